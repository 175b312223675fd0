// The timing of a case.
#pragma once

#include "bench/descriptor.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

namespace warpalign::program::bench {

struct Settings {
  bool hot = false;        ///< use one set of buffers for all runs, so that data stay in the cache
  int runs = 0;            ///< samples of each time; 0: as many as fit into the budget
  double budget_ms = 200;  ///< measuring time for each case and device
};

/// Several samples of one time.
struct Spread {
  double median = 0;
  double low = 0;   ///< the 16th percentile
  double high = 0;  ///< the 84th percentile
  int samples = 0;
};

/// All times are in milliseconds.
struct Timing {
  Spread time;  ///< of one run, from device events if `by_events`, else from the host's clock
  bool by_events = false;
  int runs_per_sample = 1;          ///< a sample is the mean of so many consecutive runs
  int buffer_sets = 1;              ///< sets among which the runs rotate
  double wall = 0;                  ///< of a single run including the wait, from the host's clock
  std::optional<double> first_use;  ///< making the plans and the first run, before any other
  std::optional<double> plan;       ///< making the plans again
  std::optional<double> upload;     ///< of one set's inputs
  std::optional<double> download;   ///< of one set's outputs
  std::vector<Part> parts{};
};

/// The median and the 16th and 84th percentiles. At least one value.
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// Keeps a GPU busy while the host enqueues the measured work, so that the time of an empty queue
/// does not count as device time.
class HeadStart {
 public:
  /// Does nothing on devices that are not GPUs.
  explicit HeadStart(const Device& device);
  /// Enqueues copies that take at least `milliseconds`.
  void give(Stream& stream, double milliseconds);

 private:
  std::optional<Buffer> from_;
  std::optional<Buffer> to_;
  double copy_ms_ = 0;
};

/// The number of sets of buffers among which the runs rotate: together larger than any cache,
/// unless `hot`.
[[nodiscard]] std::size_t buffer_sets(const Settings& settings, const Work& work,
                                      const Device& device);

/// Runs once and times the creation of the plans; verifies the result and throws WrongResult if it
/// is wrong; then times everything. Sets `verdict` before any timing.
[[nodiscard]] Timing measure(const Device& device, Work& work, HeadStart& head_start,
                             const Settings& settings, Verdict& verdict);
[[nodiscard]] Timing measure(HostWork& work, const Settings& settings, Verdict& verdict);

/// Thrown for a wrong result, whose time is not reported.
class WrongResult : public std::runtime_error {
 public:
  explicit WrongResult(const Verdict& verdict);
};

}  // namespace warpalign::program::bench

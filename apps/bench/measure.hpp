// How a case is timed.
#pragma once

#include "bench/descriptor.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

namespace warpalign::program::bench {

struct Settings {
  bool hot = false;        ///< use one set of buffers for all runs, so that it stays in the cache
  int runs = 0;            ///< samples of every time; 0: as many as fit the budget
  double budget_ms = 200;  ///< of measured time for each case and device
};

/// Several samples of one time.
struct Spread {
  double median = 0;
  double low = 0;   ///< the 16th percentile
  double high = 0;  ///< the 84th percentile
  int samples = 0;
};

/// All in milliseconds.
struct Timing {
  Spread time;  ///< of one run: by device events, or by the host's clock (`by_events`)
  bool by_events = false;
  int runs_per_sample = 1;          ///< a sample is the mean of so many runs, back to back
  int buffer_sets = 1;              ///< that the runs rotate through
  double wall = 0;                  ///< of one run alone, with its wait: the host's clock
  std::optional<double> first_use;  ///< making the plans and the first run, before any other
  std::optional<double> plan;       ///< making the plans again
  std::optional<double> upload;     ///< of one set's inputs
  std::optional<double> download;   ///< of one set's outputs
  std::vector<Part> parts{};
};

/// The median and the 16th and 84th percentiles. At least one value.
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// Keeps a GPU busy while the host enqueues what is to be measured, so that time in which the queue
/// is empty is not counted as the device's.
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

/// The number of sets of buffers that the runs rotate through: together larger than any cache,
/// unless `hot`.
[[nodiscard]] std::size_t buffer_sets(const Settings& settings, const Work& work,
                                      const Device& device);

/// Runs once, timing the creation of the plans, verifies the result, and throws WrongResult if it
/// is wrong; then times everything. `verdict` is set before anything is timed.
[[nodiscard]] Timing measure(const Device& device, Work& work, HeadStart& head_start,
                             const Settings& settings, Verdict& verdict);
[[nodiscard]] Timing measure(HostWork& work, const Settings& settings, Verdict& verdict);

/// A wrong result; no time is reported for it.
class WrongResult : public std::runtime_error {
 public:
  explicit WrongResult(const Verdict& verdict);
};

}  // namespace warpalign::program::bench

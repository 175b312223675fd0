// How a case is timed.
#pragma once

#include "bench/descriptor.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

namespace warpalign::program::bench {

struct Settings {
  bool hot = false;        ///< one set of buffers again and again, which stays in the cache
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
  int runs_a_sample = 1;            ///< a sample is the mean of so many runs, back to back
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

/// Gives a GPU work to do while the host enqueues what is to be measured, so that a queue that runs
/// dry is not measured as the device's time.
class HeadStart {
 public:
  /// Nothing on devices that are no GPU.
  explicit HeadStart(const Device& device);
  /// Enqueues copies that take at least `milliseconds`.
  void give(Stream& stream, double milliseconds);

 private:
  std::optional<Buffer> from_;
  std::optional<Buffer> to_;
  double copy_ms_ = 0;
};

/// How many sets of buffers the runs go through: together larger than any cache, unless `hot`.
[[nodiscard]] std::size_t buffer_sets(const Settings& settings, const Work& work,
                                      const Device& device);

/// Runs once with the plans' making timed, verifies, and throws WrongResult where that fails; then
/// times everything. `verdict` is set before anything is timed.
[[nodiscard]] Timing measure(const Device& device, Work& work, HeadStart& head_start,
                             const Settings& settings, Verdict& verdict);
[[nodiscard]] Timing measure(HostWork& work, const Settings& settings, Verdict& verdict);

/// A result that is not what it must be: no time is reported for it.
class WrongResult : public std::runtime_error {
 public:
  explicit WrongResult(const Verdict& verdict);
};

}  // namespace warpalign::program::bench

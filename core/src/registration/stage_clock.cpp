// Measures the device time of the pipeline's stages.
#include "registration/stage_clock.hpp"

#include <algorithm>

namespace warpalign::detail {

std::vector<StageTiming> StageClock::take() {
  std::vector<StageTiming> sums;
  for (const Interval& interval : intervals_) {
    const double elapsed = stream_.milliseconds_between(interval.from, interval.to);
    const auto same = [&](const StageTiming& timing) { return timing.stage == interval.stage; };
    const auto found = std::find_if(sums.begin(), sums.end(), same);
    if (found != sums.end()) {
      found->milliseconds += elapsed;
    } else {
      sums.push_back({interval.stage, elapsed});
    }
  }
  intervals_.clear();
  return sums;
}

}  // namespace warpalign::detail

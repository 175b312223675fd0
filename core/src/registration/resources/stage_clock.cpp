// Measures the device time of the pipeline's stages.
#include "registration/resources/stage_clock.hpp"

#include <algorithm>

namespace warpalign::detail {

void add_timings(const std::vector<StageTiming>& more, std::vector<StageTiming>& timings) {
  for (const StageTiming& one : more) {
    const auto same = [&](const StageTiming& timing) { return timing.stage == one.stage; };
    const auto found = std::find_if(timings.begin(), timings.end(), same);
    if (found != timings.end()) {
      found->milliseconds += one.milliseconds;
    } else {
      timings.push_back(one);
    }
  }
}

std::vector<StageTiming> StageClock::take() {
  std::vector<StageTiming> sums;
  for (const Interval& interval : intervals_) {
    add_timings({{interval.stage, stream_.milliseconds_between(interval.from, interval.to)}}, sums);
  }
  intervals_.clear();
  return sums;
}

}  // namespace warpalign::detail

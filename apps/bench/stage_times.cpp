// The median device time of the stages of a registration over several runs.
#include "bench/stage_times.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace warpalign::program::bench {

std::vector<Part> median_parts(std::size_t runs,
                               const std::function<std::vector<StageTiming>()>& timings_of_run) {
  std::vector<std::string> names;
  std::vector<std::vector<double>> times;
  for (std::size_t i = 0; i < runs; ++i) {
    const std::vector<StageTiming> timings = timings_of_run();
    names.resize(timings.size());
    times.resize(timings.size());
    for (std::size_t k = 0; k < timings.size(); ++k) {
      names[k] = timings[k].stage;
      times[k].push_back(timings[k].milliseconds);
    }
  }
  std::vector<Part> parts;
  for (std::size_t k = 0; k < names.size(); ++k) {
    std::sort(times[k].begin(), times[k].end());
    parts.push_back({std::move(names[k]), times[k][times[k].size() / 2]});
  }
  return parts;
}

}  // namespace warpalign::program::bench

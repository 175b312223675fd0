// Whether a timed registration is correct, and what its device time is made of.
#include "bench/registration_check.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace warpalign::program::bench {

Verdict checked(const RegistrationResult& found, const Homography& truth, std::int64_t side) {
  Verdict verdict{0, 0.01 * static_cast<double>(side),
                  "the pair's true transform: pixels at the corners"};
  const auto end = static_cast<double>(side - 1);
  for (const Point corner : {Point{0, 0}, Point{end, 0}, Point{0, end}, Point{end, end}}) {
    const Point a = found.homography(corner);
    const Point b = truth(corner);
    verdict.error = std::max(verdict.error, std::hypot(a.x - b.x, a.y - b.y));
  }
  if (!found.reliable) verdict.error = NAN;
  return verdict;
}

std::vector<Part> median_parts(std::size_t runs, const std::function<RegistrationResult()>& align) {
  std::vector<std::string> names;
  std::vector<std::vector<double>> times;
  for (std::size_t i = 0; i < runs; ++i) {
    const std::vector<StageTiming> timings = align().timings;
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
    parts.push_back({names[k], times[k][times[k].size() / 2]});
  }
  return parts;
}

}  // namespace warpalign::program::bench

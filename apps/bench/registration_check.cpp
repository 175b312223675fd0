// Verifies a timed registration.
#include "bench/registration_check.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace warpalign::program::bench

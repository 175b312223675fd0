// The confidence in a deformation without an affine step, which would have judged the pair.
#include "registration/deformation/deformation_confidence.hpp"

#include <cmath>

namespace warpalign::detail {

namespace {

// Between the mean correlations of unrelated pairs and of related ones.
constexpr double half_in_plane = 0.45;
constexpr double half_in_space = 0.35;
// The correlation that changes the odds by a factor of e.
constexpr double unit = 0.03;

}  // namespace

double deformation_confidence(const Deformation& found, int dimensions) {
  const double half = dimensions == 3 ? half_in_space : half_in_plane;
  return 1 / (1 + std::exp((half - found.correlation) / unit));
}

}  // namespace warpalign::detail

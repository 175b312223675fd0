// The confidence in a deformation whose affine transform no search has judged.
#include "registration/deformation/judgement/deformation_confidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warpalign::detail {

namespace {

// Crops of unrelated photographs reached 0.57 (220 pairs, from the identity); slices of the brains
// of different people 0.66 to 0.79.
constexpr double half_pooled = 0.58;
// Noise within equal ellipses reached 0.53, and 0.65 if its features were as wide as a soft edge;
// slices of the brains of different people 0.57 to 0.72.
constexpr double half_inner = 0.55;
// Noise within equal ellipsoids reached 0.48, but once 0.59 with features of a fifth of their
// width; the brains of different people 0.54 to 0.66.
constexpr double half_inner_of_volumes = 0.52;
// The correlation that changes the odds by a factor of e.
constexpr double unit = 0.02;
// The share of the structure within outlines below which the outlines are all that there is.
constexpr double least_inner_share = 0.01;

double confidence_at(double correlation, double half) {
  return 1 / (1 + std::exp((half - correlation) / unit));
}

}  // namespace

double deformation_confidence(const StructureCorrelation& found, const Shape& shape) {
  const double pooled = confidence_at(found.pooled, half_pooled);
  if (found.inner_share < least_inner_share) return pooled;
  return std::min(pooled,
                  confidence_at(found.inner, shape.depth > 1 ? half_inner_of_volumes : half_inner));
}

bool is_nearly_aligned(double rotation_deg, double scale, const Point3& translation,
                       const Shape& shape) {
  constexpr double max_rotation = 25;
  constexpr double max_scale = 1.25;
  constexpr double max_shift = 0.15;  // of the sides
  const auto within = [](double shift, std::int64_t side) {
    return std::abs(shift) <= max_shift * static_cast<double>(side);
  };
  return std::abs(rotation_deg) <= max_rotation && scale <= max_scale && scale >= 1 / max_scale &&
         within(translation.x, shape.width) && within(translation.y, shape.height) &&
         within(translation.z, shape.depth);
}

}  // namespace warpalign::detail

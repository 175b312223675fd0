// The base scales of a search, and the sampling of the images at them.
#include "registration/pyramid/base_scales.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

constexpr double crop_stride = 0.5;

// In strides. A remainder of this size does not add another crop: the crops then overlap by
// slightly less than half.
constexpr double crop_tolerance = 0.05;

}  // namespace

double nearest_base(double scale) {
  return *std::min_element(base_scales.begin(), base_scales.end(), [&](double a, double b) {
    return std::abs(std::log(a / scale)) < std::abs(std::log(b / scale));
  });
}

Spacings spacings_for(double base, double spacing) {
  const double reference = std::max({spacing, 1.0, 1 / base});
  return {reference, base * reference};
}

Spacings rotation_scale_spacings(double base, const Shape& reference, const Shape& moving,
                                 std::int64_t side) {
  const double larger = std::max(larger_side(reference), larger_side(moving));
  const double finer = larger / static_cast<double>(side);
  return spacings_for(base, base >= 1 ? finer / base : finer);
}

Spacings shift_spacings(double base, const Shape& reference, const Shape& moving,
                        std::int64_t side) {
  const double diagonal =
      std::hypot(static_cast<double>(moving.width), static_cast<double>(moving.height));
  const double across = larger_side(reference) + diagonal / base;
  return spacings_for(base, across / static_cast<double>(side));
}

CropsAlong::CropsAlong(std::int64_t n, std::int64_t crop) : rest_(static_cast<double>(n - crop)) {
  const double strides = rest_ / (crop_stride * static_cast<double>(crop));
  steps_ = static_cast<std::int64_t>(std::ceil(strides - crop_tolerance));
}

std::int64_t CropsAlong::start(std::int64_t i) const {
  const double part = steps_ == 0 ? 0.5 : static_cast<double>(i) / static_cast<double>(steps_);
  return std::llround(part * rest_);
}

}  // namespace warpalign::detail

// The trace that a pattern of the sensor leaves in the residual of two images that were aligned.
#include "registration/patterns/pattern_trace.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace warpalign::detail {

namespace {

// The radius of the mean that is subtracted from the residual: illumination is no pattern.
constexpr std::int64_t mean_radius = 4;
// Every second pixel along both axes tells the correlation well enough.
constexpr std::int64_t step = 2;
// By how much the residual resembles its negative more at the motion than at other shifts.
constexpr double least_difference = 0.1;

}  // namespace

void PatternTrace::subtract_offsets() {
  mean_ = residual_.values;
  box_.apply(mean_, residual_.known, residual_.width, residual_.height, mean_radius);
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    residual_.values[i] -= residual_.known[i] * mean_[i];
  }
}

double PatternTrace::correlation(const Homography& map) const {
  double product = 0, squares = 0, mapped_squares = 0;
  const std::int64_t width = residual_.width, height = residual_.height;
  for (std::int64_t y = 0; y < height; y += step) {
    const CellsOfRow cells(map, y, width, height);
    for (std::int64_t x = 0; x < width; x += step) {
      const auto i = static_cast<std::size_t>(y * width + x);
      if (residual_.known[i] == 0) continue;
      const auto cell = cells.at(x);
      if (!cell || cell->sample(residual_.known, width) < 1) continue;
      const auto here = static_cast<double>(residual_.values[i]);
      const auto there = static_cast<double>(cell->sample(residual_.values, width));
      product += here * there;
      squares += here * here;
      mapped_squares += there * there;
    }
  }
  const double energy = std::sqrt(squares * mapped_squares);
  return energy > 0 ? product / energy : 0;
}

double PatternTrace::find(const SensorImages& images, const Homography& scene, float gain,
                          double weakest) {
  residual_.take(images, scene, gain);
  subtract_offsets();
  const double along = correlation(scene);
  if (along > weakest) return 0;
  const Point centre{static_cast<double>(images.width - 1) / 2,
                     static_cast<double>(images.height - 1) / 2};
  const Point moved = LocalMap(scene, centre).place;
  constexpr double least_shift = 3;
  const double far = std::max(length({moved.x - centre.x, moved.y - centre.y}), least_shift);
  const double direction = std::atan2(moved.y - centre.y, moved.x - centre.x);
  for (const int quarter : {1, 2, 3}) {
    const double angle = direction + quarter * std::numbers::pi / 4;
    const Affine other = Affine::translation(far * std::cos(angle), far * std::sin(angle));
    if (along > correlation(Homography(other)) - least_difference) return 0;
  }
  return along;
}

}  // namespace warpalign::detail

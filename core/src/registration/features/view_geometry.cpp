// From which sides an image is looked at for local features.
#include "registration/features/view_geometry.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace warpalign::detail {

namespace {

// Features stay alike while what they lie in is stretched by less than about 2 (Morel & Yu 2009).
// With either image squeezed as much, or both, planes are found that are stretched by up to 40
// against each other. The more a view is squeezed, the finer the directions.
struct Squeeze {
  double factor;
  int directions;
};
constexpr std::array squeezes{Squeeze{1, 1}, Squeeze{2.5, 6}, Squeeze{6, 15}};
constexpr double view_side = 1024;  // an image is enlarged to it, for the smallest features

std::int64_t samples_of(double length, double step) {
  return std::max<std::int64_t>(1, std::llround(length / step));
}

// `spacing`: of the view's pixels across the squeeze, in pixels of the image.
SimulatedView squeezed_view(const Shape& image, double spacing, double factor, double radians) {
  const double c = std::cos(radians);
  const double s = std::sin(radians);
  const auto width = static_cast<double>(image.width);
  const auto height = static_cast<double>(image.height);
  const double along = factor * spacing;
  const Shape shape{samples_of(width * std::abs(c) + height * std::abs(s), along),
                    samples_of(width * std::abs(s) + height * std::abs(c), spacing), 1};
  const Point middle = centre_of(image);
  const Point centre = centre_of(shape);
  return {shape, Affine::translation(middle.x, middle.y) *
                     Affine{along * c, -spacing * s, 0, along * s, spacing * c, 0} *
                     Affine::translation(-centre.x, -centre.y)};
}

}  // namespace

double spacing_of_views(const Shape& image) { return larger_side(image) / view_side; }

std::size_t count_of_views() {
  std::size_t count = 0;
  for (const Squeeze& squeeze : squeezes) count += static_cast<std::size_t>(squeeze.directions);
  return count;
}

std::vector<SimulatedViewsSpec> views_of(const Shape& image) {
  std::vector<SimulatedViewsSpec> groups;
  for (const auto& [factor, directions] : squeezes) {
    SimulatedViewsSpec group{image, {}};
    for (int i = 0; i < directions; ++i) {
      group.views.push_back(
          squeezed_view(image, spacing_of_views(image), factor, std::numbers::pi * i / directions));
    }
    groups.push_back(group);
  }
  return groups;
}

}  // namespace warpalign::detail

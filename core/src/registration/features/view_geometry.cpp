// The simulated views in which local features are detected.
#include "registration/features/view_geometry.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace warpalign::detail {

namespace {

// Features match up to a tilt of about 2 (Morel & Yu 2009). Tilting either image or both bridges
// relative tilts of up to 40. A larger tilt needs finer directions.
struct Tilt {
  double factor;
  int directions;
};
constexpr std::array tilts{Tilt{1, 1}, Tilt{2.5, 6}, Tilt{6, 15}};
// Images are enlarged to this side to detect the smallest features.
constexpr double view_side = 1024;

std::int64_t samples_of(double length, double step) {
  return std::max<std::int64_t>(1, std::llround(length / step));
}

// `spacing` is the distance of the view's pixels across the tilt direction, in pixels of the image.
SimulatedView tilted_view(const Shape& image, double spacing, double factor, double radians) {
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

std::size_t num_views() {
  std::size_t count = 0;
  for (const Tilt& tilt : tilts) count += static_cast<std::size_t>(tilt.directions);
  return count;
}

std::vector<SimulatedViewsSpec> views_of(const Shape& image) {
  std::vector<SimulatedViewsSpec> groups;
  for (const auto& [factor, directions] : tilts) {
    SimulatedViewsSpec group{image, {}};
    for (int i = 0; i < directions; ++i) {
      group.views.push_back(
          tilted_view(image, spacing_of_views(image), factor, std::numbers::pi * i / directions));
    }
    groups.push_back(group);
  }
  return groups;
}

}  // namespace warpalign::detail

// The grids of the levels of a deformable registration.
#include "registration/deformation/deformable_levels.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace {

using warpalign::Shape;
using warpalign::detail::DeformableLevel;

/// The distances of control points along x, finest first, in full pixels.
std::vector<double> spacings(double grid_spacing) {
  const Shape shape{160, 160, 160};
  std::vector<double> found;
  for (const DeformableLevel& level :
       warpalign::detail::deformable_levels(shape, {1, 1, 1}, shape, {1, 1, 1}, grid_spacing)) {
    found.push_back(level.spacing[0]);
    CHECK(level.spacing[1] == level.spacing[0]);
    CHECK(level.spacing[2] == level.spacing[0]);
  }
  return found;
}

}  // namespace

TEST_CASE("deformable levels: coarse grids are as fine, in their pixels, as the finest one") {
  CHECK(spacings(2) == std::vector<double>{2, 4, 8, 16});
  CHECK(spacings(3.5) == std::vector<double>{3.5, 7, 14, 28});
  CHECK(spacings(5) == std::vector<double>{5, 10, 20, 40});
}

TEST_CASE("deformable levels: no coarse grid is finer than the finest one") {
  CHECK(spacings(12) == std::vector<double>{12, 12, 24, 48});
  CHECK(spacings(100) == std::vector<double>{100, 100, 100, 100});
}

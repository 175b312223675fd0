// Checks whether a homography can relate two views of a plane.
#include "registration/refinement/view_of_plane.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// The limits of plausible views: the ratio of the largest and smallest local scale over the
// reference, and the ratio of the scales along two directions at one point (the tilt).
struct MaxDifference {
  double perspective, tilt;
};
constexpr MaxDifference max_difference{4, 4};
constexpr MaxDifference max_patch_difference{12, 6};

// The ratio of the singular values of the linear part.
double tilt_of(const Affine& m) {
  const double squares = m.a * m.a + m.b * m.b + m.d * m.d + m.e * m.e;
  const double determinant = m.a * m.e - m.b * m.d;
  const double root = std::sqrt(std::max(squares * squares - 4 * determinant * determinant, 0.0));
  return std::sqrt((squares + root) / std::max(squares - root, 1e-300));
}

}  // namespace

bool is_plausible_view(const Homography& m, const Shape& reference, const Shape& moving,
                       SearchMethod proposed_by) {
  if (!is_regular(m, reference, min_divisor_of_view)) return false;
  const MaxDifference& allowed =
      proposed_by == SearchMethod::patches ? max_patch_difference : max_difference;
  double smallest = INFINITY;
  double largest = 0;
  double tilt = 0;
  bool mirrored = false;
  for_each_grid_point(reference, [&](Point p) {
    const LocalMap map(m, p);
    if (!is_inside(map.place, moving)) return;
    const Affine here = map.linear();
    mirrored = mirrored || map.area() <= 0;
    smallest = std::min(smallest, scale_of(here));
    largest = std::max(largest, scale_of(here));
    tilt = std::max(tilt, tilt_of(here));
  });
  return !mirrored && largest > 0 && largest < allowed.perspective * smallest &&
         tilt < allowed.tilt;
}

}  // namespace warpalign::detail

// The distance between two transforms, compared with a sum point by point.
#include "registration/numerics/transform_distance.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Point;
using warpalign::Shape;

constexpr Shape shape{97, 61, 1};
constexpr Shape moving{80, 70, 1};
constexpr double rounding = 1e-12;  // relative error

Homography similarity(double degrees, double scale, Point shift) {
  return warpalign::Similarity{degrees, scale, shift}.matrix(shape, moving);
}

Homography tilted(Homography m) {
  m.h[6] = 1e-3;
  m.h[7] = -2e-3;
  return m;
}

double apart(const Homography& a, const Homography& b, Point p) {
  return std::hypot(a(p).x - b(p).x, a(p).y - b(p).y);
}

double largest_at_corners(const Homography& a, const Homography& b) {
  double largest = 0;
  for (const double x : {0.0, 96.0}) {
    for (const double y : {0.0, 60.0}) largest = std::max(largest, apart(a, b, {x, y}));
  }
  return largest;
}

/// Transforms of each kind. Some map only a part of the reference into the moving image.
std::vector<Homography> transforms() {
  return {similarity(0, 1, {0, 0}), similarity(7, 1.1, {3, -2}), similarity(-50, 0.8, {20, 31}),
          tilted(similarity(2, 1, {0, 0})), tilted(similarity(30, 1.2, {-15, 9}))};
}

}  // namespace

TEST_CASE("transform distance: at corners") {
  for (const Homography& a : transforms()) {
    for (const Homography& b : transforms()) {
      CHECK(detail::corner_distance(a, b, shape) ==
            doctest::Approx(largest_at_corners(a, b)).epsilon(rounding));
    }
  }
  // Each corner is the one with the largest distance for some pair.
  for (const Point fixed : {Point{0, 0}, Point{96, 0}, Point{0, 60}, Point{96, 60}}) {
    const Affine a{1.5, 0, -0.5 * fixed.x, 0, 1.25, -0.25 * fixed.y};
    CHECK(detail::corner_distance(a, {}, shape) == doctest::Approx(std::hypot(48, 15)));
  }
}

TEST_CASE("transform distance: the mean square over the overlap") {
  for (const Homography& a : transforms()) {
    for (const Homography& b : transforms()) {
      double squares = 0;
      double points = 0;
      detail::for_each_grid_point(shape, [&](Point p) {
        if (!detail::is_inside(b(p), moving)) return;
        squares += apart(a, b, p) * apart(a, b, p);
        points += 1;
      });
      REQUIRE(points > 0);
      CHECK(detail::common_distance(a, b, shape, moving) ==
            doctest::Approx(std::sqrt(squares / points)).epsilon(rounding));
    }
  }
}

TEST_CASE("transform distance: without overlap, at the corners") {
  const Homography far = similarity(0, 1, {500, 0});
  for (const Homography& a : transforms()) {
    CHECK(detail::common_distance(a, far, shape, moving) ==
          doctest::Approx(largest_at_corners(a, far)).epsilon(rounding));
  }
}

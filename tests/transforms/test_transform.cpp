// Transforms: points, composition, inverses and Jacobian determinants, against formulas in double
// precision.
#include <warpalign/error.hpp>
#include <warpalign/transform.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace {

using warpalign::FieldInterpolation;
using warpalign::Point;
using warpalign::Point3;
using warpalign::PointGrid;
using warpalign::Transform;
using warpalign::TransformKind;

using Function = std::function<Point(double, double)>;

/// A field of the plane, from a function of its points.
Transform field_of(const PointGrid& grid, const Function& u,
                   FieldInterpolation interpolation = FieldInterpolation::linear) {
  std::vector<double> x, y;
  const auto& m = grid.index_to_point().m;
  for (std::int64_t j = 0; j < grid.shape.height; ++j) {
    for (std::int64_t i = 0; i < grid.shape.width; ++i) {
      const auto s = static_cast<double>(i);
      const auto t = static_cast<double>(j);
      const Point value = u(m[0] * s + m[1] * t + m[3], m[4] * s + m[5] * t + m[7]);
      x.push_back(value.x);
      y.push_back(value.y);
    }
  }
  const std::array<const double*, 2> components{x.data(), y.data()};
  return Transform::displacement(grid, components, interpolation);
}

Point wave(double x, double y) { return {2 * std::sin(y / 7), 1.5 * std::cos(x / 6)}; }

void check_point(const Point& found, const Point& expected, double tolerance) {
  CHECK(std::abs(found.x - expected.x) <= tolerance);
  CHECK(std::abs(found.y - expected.y) <= tolerance);
}

double distance(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y); }

}  // namespace

TEST_CASE("transform: matrices map, compose and invert as their formulas") {
  const warpalign::Affine a{1.1, 0.2, 3, -0.1, 0.9, 4};
  const warpalign::Homography h({1, 0.1, 2, 0, 1.2, 3, 1e-3, 2e-3, 1});
  const Transform both = Transform::homography(h) * Transform::affine(a);
  CHECK(both.kind() == TransformKind::homography);
  const Point p{12, -5};
  check_point(both(p), h(a(p)), 1e-12);  // a few roundings of coordinates of 10
  check_point(both.inverse()(both(p)), p, 1e-11);
  CHECK(both.inverse_residual() == 0);
  // Millimetres of a map, far from its origin: roundings of 5e9, divided by 500.
  const Transform map = Transform::affine({500, 0, 5e8, 0, -500, 5.4e9});
  check_point(map.inverse()(map(p)), p, 1e-8);
  CHECK_THROWS_AS(static_cast<void>(Transform::affine({1, 2, 0, 2, 4, 0}).inverse()),
                  warpalign::Error);
  CHECK_THROWS_AS(static_cast<void>(Transform::of_matrix(TransformKind::rigid, 2,
                                                         warpalign::Affine{2, 0, 0, 0, 2, 0})),
                  warpalign::Error);
}

TEST_CASE("transform: a field has its samples at the grid, and is bilinear between them") {
  const PointGrid grid{.shape = {9, 7, 1}, .origin = {2, -1, 0}, .spacing = {0.5, 2, 1}};
  const Transform t = field_of(grid, [](double x, double y) { return Point{x * y, 3 * x - y}; });
  const double x = 2 + 0.5 * 3.25;
  const double y = -1 + 2 * 4.5;
  check_point(t(Point{x, y}), {x + x * y, y + 3 * x - y},
              1e-12);  // the function is bilinear itself
  // Beyond the right edge at x = 6, the displacement is that of the edge.
  check_point(t(Point{8, y}), {8 + 6 * y, y + 18 - y}, 1e-12);
  std::vector<double> out(2);
  const std::vector<double> beyond{8, y};
  t.points(beyond, out, warpalign::OutsideField::zero);
  CHECK(out == beyond);
  t.points(beyond, out, warpalign::OutsideField::nan);
  CHECK(std::isnan(out[0]));
}

TEST_CASE("transform: a cubic field passes through its samples and is smooth") {
  const PointGrid grid{.shape = {31, 29, 1}};
  const Transform t = field_of(grid, wave, FieldInterpolation::cubic);
  for (const Point p : {Point{0, 0}, Point{30, 28}, Point{11, 17}}) {
    const Point u = wave(p.x, p.y);
    check_point(t(p), {p.x + u.x, p.y + u.y}, 1e-12);
  }
  const Point u = wave(14.4, 13.7);
  // Cubic splines of waves of 38 pixels: an error of about (2 pi / 38)^4 / 400 of the amplitude.
  check_point(t(Point{14.4, 13.7}), {14.4 + u.x, 13.7 + u.y}, 2e-5);
}

TEST_CASE("transform: B-spline coefficients that are linear give a linear field in space") {
  const PointGrid grid{.shape = {6, 5, 5}, .origin = {-3, 0, 1}, .spacing = {3, 2, 4}};
  std::vector<float> x, y, z;
  for (int k = 0; k < 5; ++k) {
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < 6; ++i) {
        x.push_back(static_cast<float>(i));
        y.push_back(static_cast<float>(j - k));
        z.push_back(0.5F);
      }
    }
  }
  const std::array<const float*, 3> components{x.data(), y.data(), z.data()};
  const Transform t = Transform::bspline(grid, components);
  const Point3 p = t(Point3{3.3, 4.2, 8.6});
  CHECK(p.x == doctest::Approx(3.3 + 2.1));
  CHECK(p.y == doctest::Approx(4.2 + 2.1 - 1.9));
  CHECK(p.z == doctest::Approx(8.6 + 0.5));
  CHECK(t.sample_type() == warpalign::PixelType::f32);
}

TEST_CASE("transform: the inverse of a field, and of a chain with it, leads back") {
  const PointGrid grid{.shape = {48, 40, 1}};
  for (const auto interpolation : {FieldInterpolation::linear, FieldInterpolation::cubic}) {
    const Transform field = field_of(grid, wave, interpolation);
    const Transform chain = Transform::affine({1.1, 0.2, 3, -0.1, 0.9, 4}) * field;
    CHECK(chain.kind() == TransformKind::chain);
    const Transform back = chain.inverse();
    CHECK(back.inverse_residual() < 1e-9);  // Newton stops at 1e-10 of the spacing
    double largest = 0;
    for (double y = -3; y < 44; y += 1.7) {
      for (double x = -3; x < 52; x += 1.3) {
        largest = std::max(largest, distance(back(chain(Point{x, y})), Point{x, y}));
      }
    }
    CHECK(largest < 1e-8);
    CHECK(field.inverse().inverse() == field);
    CHECK(!(field.inverse() == field));
  }
}

TEST_CASE("transform: the inverse of a thin-plate spline leads back, unless it folds") {
  std::vector<double> from;
  std::vector<double> to;
  for (int i = 0; i < 30; ++i) {
    const double x = i % 6 * 10 + i % 5;
    const double y = i / 6 * 11 + i % 4;
    from.insert(from.end(), {x, y});
    to.insert(to.end(), {-1.1 * x + 2 * std::sin(y / 15), 0.9 * y + 1.5 * std::cos(x / 14)});
  }
  const Transform spline = Transform::thin_plate(2, from, to);  // mirrors x
  const Transform back = spline.inverse();
  CHECK(back.kind() == TransformKind::inverse);
  CHECK(back.inverse_residual() < 1e-9);  // Newton stops at 1e-12 of an extent of 70
  double largest = 0;
  for (double y = -20; y < 70; y += 3.7) {
    for (double x = -20; x < 80; x += 3.3) {
      largest = std::max(largest, distance(back(spline(Point{x, y})), Point{x, y}));
    }
  }
  CHECK(largest < 1e-8);
  CHECK(back.inverse() == spline);
  CHECK(!(back == spline));
  CHECK(back.landmarks()[0].empty());
  std::vector<double> forth(1);
  std::vector<double> there(1);
  spline.jacobian({.shape = {1, 1, 1}, .origin = {20, 20}}, forth);
  const Point mapped = spline(Point{20, 20});
  back.jacobian({.shape = {1, 1, 1}, .origin = {mapped.x, mapped.y}}, there);
  CHECK(there[0] * forth[0] == doctest::Approx(1).epsilon(1e-9));
  std::swap(to[2 * 14], to[2 * 16]);  // two points change places
  CHECK_THROWS_WITH_AS(static_cast<void>(Transform::thin_plate(2, from, to).inverse()),
                       doctest::Contains("folds"), warpalign::Error);

  std::vector<double> solid;
  std::vector<double> bent;
  for (int i = 0; i < 27; ++i) {
    const std::array<double, 3> p{i % 3 * 10.0, i / 3 % 3 * 12.0, i / 9 * 9.0};
    solid.insert(solid.end(), p.begin(), p.end());
    bent.insert(bent.end(), {p[0] + std::sin(p[1] / 9), p[1] + 1, p[2] + std::cos(p[0] / 8)});
  }
  const Transform space = Transform::thin_plate(3, solid, bent);
  const Point3 p{7, 13, 11};
  const Point3 q = space.inverse()(space(p));
  CHECK(std::hypot(q.x - p.x, q.y - p.y, q.z - p.z) < 1e-8);
}

TEST_CASE("transform: a field that folds has no inverse, and the error says where") {
  const PointGrid grid{.shape = {20, 16, 1}};
  const Transform t = field_of(grid, [](double x, double y) {
    return x == 12 && y == 5 ? Point{-3, 0} : Point{};
  });
  CHECK_THROWS_WITH_AS(static_cast<void>(t.inverse()),
                       doctest::Contains("determinant is -2 at x = 11, y = 5"), warpalign::Error);
}

TEST_CASE("transform: Jacobian determinants are central differences, and multiply in chains") {
  const PointGrid grid{.shape = {12, 10, 1}};
  const Transform t = field_of(grid, wave);
  std::vector<double> found(120);
  t.jacobian(grid, found);
  const double uy = (wave(4, 7).x - wave(4, 5).x) / 2;
  const double vx = (wave(5, 6).y - wave(3, 6).y) / 2;
  CHECK(found[6 * 12 + 4] == doctest::Approx(1 - uy * vx).epsilon(1e-12));
  std::vector<double> scaled(120);
  (Transform::affine({2, 0, 0, 0, 3, 0}) * t).jacobian(grid, scaled);
  CHECK(scaled[77] == doctest::Approx(6 * found[77]).epsilon(1e-12));
}

TEST_CASE("transform: many points are mapped as one, and transforms of different kinds refuse") {
  const Transform t = field_of({.shape = {30, 30, 1}}, wave);
  std::vector<double> points(2 * 70001);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = static_cast<double>(i % 3001) / 100;
  std::vector<double> mapped(points.size());
  t.points(points, mapped);
  for (const std::size_t i : {0U, 511U, 512U, 16384U, 70000U}) {
    const Point one = t(Point{points[2 * i], points[2 * i + 1]});
    CHECK(mapped[2 * i] == one.x);
    CHECK(mapped[2 * i + 1] == one.y);
  }
  CHECK_THROWS_AS(static_cast<void>(t * Transform::translation(Point3{1, 2, 3})), warpalign::Error);
}

// Transforms from pairs of points, and transforms of world coordinates.
#include <warpalign/error.hpp>
#include <warpalign/point_fit.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <cstddef>
#include <vector>

namespace {

using warpalign::Coordinates;
using warpalign::fit_points;
using warpalign::HomogeneousMatrix;
using warpalign::Point3;
using warpalign::PointFit;
using warpalign::PointGrid;
using warpalign::PointModel;
using warpalign::Transform;
using warpalign::TransformKind;

/// Points in a box of 100, without a pattern.
std::vector<double> scattered(std::size_t coordinates) {
  std::vector<double> values;
  for (std::size_t i = 0; i < coordinates; ++i) {
    values.push_back(100 * std::fmod(0.618034 * static_cast<double>(i * i + 3 * i + 1), 1.0));
  }
  return values;
}

HomogeneousMatrix affine() {
  return HomogeneousMatrix::affine3({1.1, 0.2, -0.1, 3, -0.1, 0.9, 0.3, 4, 0.2, 0, 1.2, 5});
}

}  // namespace

TEST_CASE("fit_points: an affine transform in space, with a wrong pair") {
  const Transform truth = Transform::of_matrix(TransformKind::affine, 3, affine());
  const std::vector<double> reference = scattered(60);
  std::vector<double> moving(60);
  truth.points(reference, moving);
  moving[9] += 40;
  const PointFit found = fit_points(3, reference, moving);
  CHECK_FALSE(found.inliers[3]);
  CHECK(std::abs(found.residuals[3] - 40) < 1e-8);
  for (std::size_t i = 0; i < 16; ++i) {
    CAPTURE(i);
    // 20 points of coordinates of 100, each to 1e-14.
    CHECK(std::abs(found.transform.matrix()->m[i] - affine().m[i]) < 1e-10);
  }
}

TEST_CASE("fit_points: a thin-plate spline passes through its points and keeps affine maps") {
  const std::vector<double> reference = scattered(30);
  std::vector<double> moving = reference;
  for (std::size_t i = 0; i < moving.size(); ++i) moving[i] += 3 * std::sin(reference[i ^ 1] / 20);
  const PointFit found =
      fit_points(2, reference, moving, {.model = PointModel::thin_plate_spline, .robust = false});
  CHECK(found.transform.kind() == TransformKind::thin_plate);
  for (const double residual : found.residuals) CHECK(residual < 1e-9);
  CHECK(found.transform == Transform::thin_plate(2, reference, moving));
  const warpalign::Affine plane{1.1, 0.2, 3, -0.1, 0.9, 4};
  Transform::affine(plane).points(reference, moving);
  const Transform flat = Transform::thin_plate(2, reference, moving);
  CHECK(std::abs(flat(warpalign::Point{250, -80}).x - plane({250, -80}).x) < 1e-8);
  CHECK(std::abs(flat(warpalign::Point{250, -80}).y - plane({250, -80}).y) < 1e-8);
}

TEST_CASE("fit_points: refuses pairs that determine nothing") {
  const std::vector<double> line{0, 0, 1, 1, 2, 2, 3, 3};
  CHECK_THROWS_WITH_AS((void)fit_points(2, line, line), doctest::Contains("line"),
                       warpalign::Error);
  CHECK_THROWS_WITH_AS((void)fit_points(2, std::vector<double>(4), std::vector<double>(4)),
                       doctest::Contains("at least 3 pairs"), warpalign::Error);
}

TEST_CASE("in_coordinates: a field of pixels maps millimetres through both grids") {
  const PointGrid reference{.shape = {8, 7, 1}, .origin = {10, 20, 0}, .spacing = {0.5, 2, 1}};
  const PointGrid moving{.shape = {6, 9, 1},
                         .origin = {-3, 4, 0},
                         .spacing = {3, 1, 1},
                         .direction = {0, -1, 0, 1, 0, 0, 0, 0, 1}};
  std::vector<double> x(56), y(56);
  for (std::size_t i = 0; i < 56; ++i) {
    x[i] = std::sin(static_cast<double>(i) / 5);
    y[i] = std::cos(static_cast<double>(i) / 7);
  }
  const std::array<const double*, 2> components{x.data(), y.data()};
  const Transform pixels = Transform::displacement(PointGrid{.shape = {8, 7, 1}}, components);
  const Transform world = pixels.in_coordinates(Coordinates::world, reference, moving);
  CHECK(world.coordinates() == Coordinates::world);
  const warpalign::Point there = pixels(warpalign::Point{3, 2});
  const warpalign::Point mapped = world(warpalign::Point{10 + 3 * 0.5, 20 + 2 * 2});
  // The moving image's x axis points along y, and its y axis along -x.
  CHECK(std::abs(mapped.x - (-3 - there.y)) < 1e-12);
  CHECK(std::abs(mapped.y - (4 + 3 * there.x)) < 1e-12);
  const Transform back = world.in_coordinates(Coordinates::pixels, reference, moving);
  CHECK(std::abs(back(warpalign::Point{3, 2}).x - there.x) < 1e-12);
  CHECK_THROWS_AS((void)(world * pixels), warpalign::Error);
}

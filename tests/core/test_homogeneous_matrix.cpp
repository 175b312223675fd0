// Homogeneous matrices between pixel grids.
#include <warpalign/homogeneous_matrix.hpp>

#include <doctest/doctest.h>
#include <array>

namespace {

using warpalign::HomogeneousMatrix;
using Point = std::array<double, 3>;

Point apply(const HomogeneousMatrix& t, const Point& p) {
  std::array<double, 4> h{};
  for (std::size_t i = 0; i < 4; ++i) {
    h[i] = t.m[4 * i] * p[0] + t.m[4 * i + 1] * p[1] + t.m[4 * i + 2] * p[2] + t.m[4 * i + 3];
  }
  return {h[0] / h[3], h[1] / h[3], h[2] / h[3]};
}

void check_point(const Point& found, const Point& expected) {
  for (std::size_t i = 0; i < 3; ++i) CHECK(found[i] == doctest::Approx(expected[i]));
}

}  // namespace

TEST_CASE("homogeneous matrix: the identity by default") {
  check_point(apply({}, {3, -4, 5}), {3, -4, 5});
  CHECK(HomogeneousMatrix().is_affine());
}

TEST_CASE("homogeneous matrix: an affine transform of the plane keeps z") {
  const HomogeneousMatrix t = warpalign::Affine{2, 3, 5, 7, 11, 13};
  check_point(apply(t, {1, 10, 6}), {2 + 30 + 5, 7 + 110 + 13, 6});
  CHECK(t.is_affine());
}

TEST_CASE("homogeneous matrix: a homography divides by its third row") {
  const auto t = HomogeneousMatrix::homography({2, 3, 5, 7, 11, 13, 0.5, 0.25, 2});
  const double w = 0.5 * 4 + 0.25 * 8 + 2;
  check_point(apply(t, {4, 8, 0}), {(8 + 24 + 5) / w, (28 + 88 + 13) / w, 0});
  CHECK(!t.is_affine());
  CHECK(HomogeneousMatrix::homography({1, 0, 2, 0, 1, 3, 0, 0, 1}).is_affine());
  CHECK(!HomogeneousMatrix::homography({1, 0, 2, 0, 1, 3, 0, 0, 2}).is_affine());
}

TEST_CASE("homogeneous matrix: three rows transform a point in space") {
  const auto t = HomogeneousMatrix::affine3({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  check_point(apply(t, {1, 10, 100}), {325, 773, 1221});
  CHECK(t.is_affine());
}

TEST_CASE("homogeneous matrix: a zoom keeps the corner pixels' centres in place") {
  const auto t = HomogeneousMatrix::zoom({11, 7, 3}, {41, 4, 5});
  check_point(apply(t, {0, 0, 0}), {0, 0, 0});
  check_point(apply(t, {40, 3, 4}), {10, 6, 2});
  check_point(apply(t, {20, 1, 2}), {5, 2, 1});
  // A single pixel of output or input is at 0, without a division by zero.
  check_point(apply(HomogeneousMatrix::zoom({11, 1, 1}, {1, 9, 1}), {0, 5, 0}), {0, 0, 0});
}

// Rotations, the grid of orientations, and spectra that rotate with a volume. Needs no device.
#include "registration/volume/geometry/orientation_grid.hpp"
#include "registration/volume/geometry/spatial_transform.hpp"
#include "registration/volume/pyramid/volume_pyramid.hpp"
#include "registration/volume/search/spectrum_ball.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace warpalign::detail;
using warpalign::Shape;

constexpr double degree = 0.017453292519943295;

double alignment_angle(const Matrix3& a, const Matrix3& b) {
  double trace = 0;
  for (std::size_t i = 0; i < 9; ++i) trace += a[i] * b[i];
  return std::acos(std::clamp((trace - 1) / 2, -1.0, 1.0));
}

}  // namespace

TEST_CASE("rotations: vectors are recovered from matrices, also for 0 and 180 degrees") {
  for (const Vector3& v : {Vector3{0, 0, 0}, Vector3{1e-9, 0, 0}, Vector3{0.3, -0.2, 0.5},
                           Vector3{-1, 2, 0.4}, Vector3{0, 3.14159, 0}}) {
    const Matrix3 rotation = rotation_by(v);
    CHECK(determinant(rotation) == doctest::Approx(1));
    const Vector3 back = rotation_vector(rotation);
    for (std::size_t i = 0; i < 3; ++i) CHECK(back[i] == doctest::Approx(v[i]).epsilon(1e-6));
    CHECK(angle_of(rotation) == doctest::Approx(std::hypot(v[0], v[1], v[2])).epsilon(1e-6));
  }
  // Half a turn about an axis is half a turn about its opposite.
  const Vector3 half = rotation_vector(rotation_by({0, -3.141592653589793, 0}));
  CHECK(std::abs(half[1]) == doctest::Approx(3.141592653589793));
  // Counter-clockwise about z: x rotates to y.
  const Vector3 rotated_x = product(rotation_by({0, 0, 90 * degree}), Vector3{1, 0, 0});
  CHECK(rotated_x[1] == doctest::Approx(1));
}

TEST_CASE("rotations: the nearest rotation to a matrix") {
  const Matrix3 rotation = rotation_by({0.4, -1.1, 0.7});
  // A stretch after the rotation does not change the nearest rotation.
  const Matrix3 stretch{1.2, 0.1, 0, 0.1, 0.9, 0.05, 0, 0.05, 1.1};
  const Matrix3 nearest = nearest_rotation(product(stretch, rotation));
  for (std::size_t i = 0; i < 9; ++i) CHECK(nearest[i] == doctest::Approx(rotation[i]));
}

TEST_CASE("orientations: every rotation has a grid point near it, and a range keeps its own") {
  constexpr std::size_t count = 4608;
  const auto all = all_orientations(count);
  REQUIRE(all.size() == count);
  std::mt19937 random(5);
  const auto unit = [&] { return static_cast<double>(random()) / 2147483648.0 - 1; };
  double farthest = 0;
  for (int i = 0; i < 300; ++i) {
    const Matrix3 rotation = rotation_by({3 * unit(), 3 * unit(), 3 * unit()});
    double nearest = 10;
    for (const Matrix3& one : all) nearest = std::min(nearest, alignment_angle(one, rotation));
    farthest = std::max(farthest, nearest);
  }
  // The next refinement searches 5 degrees to both sides along three axes, hence 8.7 along
  // diagonals. Frequencies of up to 8 then move by less than 2, the width of a window's spectrum.
  CHECK(farthest < 13 * degree);
  const auto some = orientations_within(38 * degree, count);
  CHECK(some.front() == identity3());
  for (const Matrix3& rotation : some) CHECK(angle_of(rotation) <= 38 * degree);
  // The fraction of rotations by at most t is (t - sin t) / pi: 1.5 % here.
  CHECK(some.size() ==
        doctest::Approx(1 + count * (38 * degree - std::sin(38 * degree)) / 3.1416).epsilon(0.1));
}

TEST_CASE("the spectrum's ball: opposite frequencies are equal, and spheres have the mean 0") {
  constexpr std::int64_t side = 16;
  constexpr int radius = 3;
  std::mt19937 random(6);
  std::vector<std::complex<float>> half(static_cast<std::size_t>((side / 2 + 1) * side * side));
  for (auto& value : half) value = {static_cast<float>(random() % 100), 1};
  // At u = 0 the spectrum of a real volume has conjugate values at opposite frequencies.
  const auto at = [&](std::int64_t v, std::int64_t w) -> std::complex<float>& {
    return half[static_cast<std::size_t>(((w + side) % side * side + (v + side) % side) *
                                         (side / 2 + 1))];
  };
  for (std::int64_t w = -7; w < 8; ++w) {
    for (std::int64_t v = -7; v < 8; ++v) at(-v, -w) = std::conj(at(v, w));
  }
  std::vector<float> cube;
  take_spectrum_ball(half, side, radius, cube);
  constexpr int width = 2 * radius + 3;
  REQUIRE(cube.size() == width * width * width);
  for (std::size_t i = 0; i < cube.size(); ++i) CHECK(cube[i] == cube[cube.size() - 1 - i]);
  double sum = 0;
  int count = 0;
  for (int i = 0; i < width * width * width; ++i) {
    const double x = i % width - radius - 1, y = i / width % width - radius - 1,
                 z = i / width / width - radius - 1;
    if (std::lround(std::sqrt(x * x + y * y + z * z)) != 2) continue;
    sum += static_cast<double>(cube[static_cast<std::size_t>(i)]);
    ++count;
  }
  CHECK(sum / count == doctest::Approx(0).epsilon(1e-6));
  std::vector<warpalign::ScoredPoint> points;
  take_ball_points(cube, width, radius, points);
  for (const auto& p : points) {
    const float distance = std::sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
    CHECK(distance >= 2);
    CHECK(distance <= radius);
  }
  // Half of the 96 lattice points at distances from 2 to 3.
  CHECK(points.size() == 48);
  // Values of 0 to 100 to the power 0.3.
  CHECK(*std::max_element(cube.begin(), cube.end()) < 4);
  CHECK(*std::min_element(cube.begin(), cube.end()) > -4);
}

TEST_CASE("the pyramid's grids: voxels become cubic, and keep their position") {
  const VolumeGrid reference{{128, 127, 30}, {1, 1, 4}, {}};
  const VolumeGrid moving{{64, 64, 64}, {2, 2, 2}, {}};
  const PyramidGrids grids = pyramid_grids(reference, moving);
  REQUIRE(grids.levels() == 3);
  CHECK(grids.reference[1].shape == Shape{64, 63, 30});
  CHECK(grids.reference[2].shape == Shape{32, 31, 30});
  CHECK(grids.reference[2].spacing == Vector3{4, 4, 4});
  CHECK(grids.moving[1].shape == Shape{64, 64, 64});
  CHECK(grids.moving[2].shape == Shape{32, 32, 32});
  // The last of 127 voxels is dropped, and later the last of 63.
  CHECK(grids.reference[1].centre == Vector3{0, -0.5, 0});
  CHECK(grids.reference[2].centre == Vector3{0, -1.5, 0});
}

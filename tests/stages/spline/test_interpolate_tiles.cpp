// B-spline evaluation under affine transforms, which a device may compute in tiles, against the
// oracle on every device: the edges of tiles, of their source boxes and of images.
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/splines.hpp"

#include <warpalign/stages/interpolate.hpp>

namespace {

using test::Point;
using warpalign::Affine;
using warpalign::Boundary;
using warpalign::HomogeneousMatrix;
using warpalign::InterpolateSpec;
using warpalign::PixelType;
using warpalign::Shape;

/// Rotated by a third of a right angle; all entries are below 1.
const Affine rotated{0.86, -0.49, 11.3, 0.51, 0.85, -17.7};
const HomogeneousMatrix rotated_in_space = HomogeneousMatrix::affine3(
    {0.93, 0.21, -0.19, -4.6, -0.22, 1.06, 0.11, 1.33, 0.14, -0.16, 0.81, 1.45});
/// So steep that a tile of 16 x 16 x 8 pixels needs more than 32 coefficients along x.
const HomogeneousMatrix steep_in_space =
    HomogeneousMatrix::affine3({1.2, 0.5, -0.4, -3.1, 0.3, 1.1, 0.2, -5.4, 0.2, -0.3, 0.9, 2.2});

InterpolateSpec spec_of(const Shape& image, const Shape& output, int degree, Boundary boundary) {
  const int dimensions = output.depth > 1 ? 3 : 2;
  auto spec = test::small_spline(dimensions, degree, boundary, output);
  spec.images.shape = image;
  return spec;
}

std::vector<Point> points_of(const InterpolateSpec& spec, const HomogeneousMatrix& transform) {
  return test::points_of(spec, [&](double x, double y, double z) {
    return test::transformed(transform, {x, y, z});
  });
}

#define WARPALIGN_CAPTURE(spec)                                   \
  CAPTURE(spec.spline.degree);                                    \
  CAPTURE(std::string(warpalign::name_of(spec.spline.boundary))); \
  CAPTURE(std::string(warpalign::name_of(spec.output_type)));     \
  CAPTURE(warpalign::to_string(spec.images.shape));               \
  CAPTURE(warpalign::to_string(spec.output))

/// The transform's points are computed to 1e-6 of a pixel at any position, which is more than
/// single precision.
constexpr double point_error = 1e-6;

/// `rounding` is that of the output's type, relative to the largest coefficient.
void compare(const warpalign::Device& device, const InterpolateSpec& spec,
             const HomogeneousMatrix& transform, double rounding = 0) {
  WARPALIGN_CAPTURE(spec);
  const auto spline = test::random_spline(spec, 61);
  const auto points = points_of(spec, transform);
  auto found = test::interpolated_by(device, spec, spline, transform);
  CHECK(test::without_jumps(spec, spline, points, found) > points.size() / 3);
  CHECK(test::worst(spline, points, found, {4e-7 + rounding, point_error}) <= 1);
}

/// For integers, if the value is a tie to within the tolerance, either neighbour is right.
void compare_integers(const warpalign::Device& device, const InterpolateSpec& spec,
                      const HomogeneousMatrix& transform, double most) {
  WARPALIGN_CAPTURE(spec);
  auto spline = test::random_spline(spec, 62);
  for (double& c : spline.coefficients.values) {
    c = static_cast<float>((0.5 + 0.8 * c) * most);  // some values exceed both ends of the range
  }
  const auto points = points_of(spec, transform);
  const auto found = test::interpolated_by(device, spec, spline, transform);
  int wrong = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (test::near_jump(spec, points[i])) continue;
    const auto truth = reference::evaluate(spline, points[i]);
    double error = 4e-7 * test::largest(spline.coefficients);
    for (const double slope : truth.gradient) error += point_error * std::abs(slope);
    wrong += found.values[i] != reference::as_integer(truth.value - error, most) &&
             found.values[i] != reference::as_integer(truth.value + error, most);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("interpolate tiles: low degrees in every mode, with rows of any length") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const int degree : {1, 2}) {
      for (const Boundary boundary : test::boundaries()) {
        compare(device, spec_of({160, 141}, {150, 131}, degree, boundary), rotated);
        compare(device, spec_of({163, 80}, {130, 70}, degree, boundary), rotated);
        compare(device, spec_of({40, 37, 30}, {33, 19, 35}, degree, boundary), rotated_in_space);
        compare(device, spec_of({41, 37, 30}, {35, 17, 17}, degree, boundary), rotated_in_space);
      }
    }
  });
}

// Rows run down the source instead of along it, or backwards; or so steeply that boxes are wide or
// too large.
TEST_CASE("interpolate tiles: rotated, mirrored, steep") {
  const std::vector<Affine> maps{{0.1, -1.02, 140.3, 0.98, 0.07, 2.2},
                                 {-1, 0, 119, 0, -1, 99},
                                 {1.7, 0.6, -60, -0.4, 2.1, -9}};
  const auto beyond =
      HomogeneousMatrix::affine3({2.9, 0.5, -0.4, -3.1, 0.3, 2.1, 0.2, -5.4, 0.2, -0.3, 2.9, 2.2});
  test::on_every_device([&](const warpalign::Device& device) {
    for (const int degree : {1, 2, 3, 5}) {
      for (const Boundary boundary : {Boundary::mirror, Boundary::constant}) {
        for (const Affine& map : maps) {
          compare(device, spec_of({120, 100}, {131, 90}, degree, boundary), map);
        }
        for (const HomogeneousMatrix& map : {steep_in_space, beyond}) {
          compare(device, spec_of({44, 39, 31}, {35, 33, 18}, degree, boundary), map);
        }
      }
    }
  });
}

TEST_CASE("interpolate tiles: images of one, two and three samples") {
  const Affine fine{0.03, -0.02, 0.1, 0.02, 0.04, -0.7};
  test::on_every_device([&](const warpalign::Device& device) {
    for (const int degree : {1, 3}) {
      for (const Boundary boundary : test::boundaries()) {
        for (const Shape& image : {Shape{1, 1}, {1, 3}, {2, 1}, {3, 2}}) {
          compare(device, spec_of(image, {70, 67}, degree, boundary), fine);
          compare(device, spec_of(image, {70, 67}, degree, boundary), rotated);
        }
        for (const Shape& image : {Shape{1, 1, 1}, {1, 2, 3}, {4, 1, 2}}) {
          compare(device, spec_of(image, {19, 17, 18}, degree, boundary), rotated_in_space);
        }
      }
    }
  });
}

TEST_CASE("interpolate tiles: transforms that reach far outside") {
  const Affine far{0.86, -0.49, 123456.7, 0.51, 0.85, -7654321.3};
  auto far_in_space = rotated_in_space;
  far_in_space.m[3] = -1234567.8;
  far_in_space.m[11] = 98765.4;
  test::on_every_device([&](const warpalign::Device& device) {
    for (const int degree : {1, 3}) {
      for (const Boundary boundary : test::boundaries()) {
        compare(device, spec_of({90, 71}, {80, 70}, degree, boundary), far);
        compare(device, spec_of({20, 17, 14}, {19, 18, 17}, degree, boundary), far_in_space);
      }
    }
  });
}

// Images so large that some tiles lie within one period and others across its end, several periods
// away.
TEST_CASE("interpolate tiles: wrap") {
  auto plane = rotated;
  plane.c += 12 * 299;
  plane.f -= 7 * 259;
  auto space = rotated_in_space;
  space.m[3] -= 5 * 89;
  space.m[11] += 3 * 69;
  test::on_every_device([&](const warpalign::Device& device) {
    for (const int degree : {1, 2, 3, 4}) {
      compare(device, spec_of({300, 260}, {270, 250}, degree, Boundary::wrap), plane);
      compare(device, spec_of({90, 80, 70}, {50, 49, 66}, degree, Boundary::wrap), space);
    }
  });
}

TEST_CASE("interpolate tiles: every output type") {
  const auto plane = [](Boundary boundary, PixelType type) {
    auto spec = spec_of({90, 71}, {80, 70}, 1, boundary);
    spec.output_type = type;
    return spec;
  };
  const auto space = [](Boundary boundary, PixelType type) {
    auto spec = spec_of({20, 17, 14}, {19, 18, 17}, 1, boundary);
    spec.output_type = type;
    return spec;
  };
  constexpr double half_step = 0x1p-11;  // of halves
  test::on_every_device([&](const warpalign::Device& device) {
    compare_integers(device, plane(Boundary::reflect, PixelType::u8), rotated, 255);
    compare_integers(device, plane(Boundary::constant, PixelType::u16), rotated, 65535);
    compare(device, plane(Boundary::constant, PixelType::f16), rotated, half_step);
    compare_integers(device, space(Boundary::constant, PixelType::u8), rotated_in_space, 255);
    compare_integers(device, space(Boundary::reflect, PixelType::u16), rotated_in_space, 65535);
    compare(device, space(Boundary::reflect, PixelType::f16), rotated_in_space, half_step);
  });
}

// With `constant` the last sample must have its value in spite of rounding.
TEST_CASE("interpolate tiles: whole coordinates give degree 1's samples, even at edges") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Boundary boundary : test::boundaries()) {
      for (const Shape& shape : {Shape{131, 70}, Shape{19, 17, 18}}) {
        const auto spec = spec_of(shape, shape, 1, boundary);
        WARPALIGN_CAPTURE(spec);
        const auto spline = test::random_spline(spec, 63);
        const auto same = test::interpolated_by(device, spec, spline, HomogeneousMatrix());
        CHECK(test::max_difference(same, spline.coefficients) == 0);
      }
    }
  });
}

// Interpolation of degree 1 at the edges of images, where values jump, with transforms that hit
// the edges exactly; against the oracle, on every device.
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/splines.hpp"

#include <warpalign/stages/interpolate.hpp>

namespace {

using test::Point;
using warpalign::Boundary;
using warpalign::HomogeneousMatrix;
using warpalign::InterpolateSpec;
using warpalign::Shape;

#define WARPALIGN_CAPTURE(spec)                                   \
  CAPTURE(std::string(warpalign::name_of(spec.spline.boundary))); \
  CAPTURE(warpalign::to_string(spec.images.shape))

InterpolateSpec spec_of(const Shape& image, const Shape& output, Boundary boundary) {
  auto spec = test::small_spline(image.depth > 1 ? 3 : 2, 1, boundary, output);
  spec.images.shape = image;
  return spec;
}

}  // namespace

// Each result is exactly a sample or cval. With `constant` the last sample is inside and the next
// position outside; with `wrap`, multiples of n - 1 give the first sample above the image and the
// last one below it.
TEST_CASE("interpolate linear: shifts by whole pixels, beyond every edge") {
  const auto shifted = [](int x, int y, int z) {
    HomogeneousMatrix transform;
    transform.m[3] = x;
    transform.m[7] = y;
    transform.m[11] = z;
    return transform;
  };
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Boundary boundary : test::boundaries()) {
      for (const auto& [image, output] : {std::pair{Shape{37, 29}, Shape{150, 140}},
                                          {Shape{1, 2}, Shape{20, 9}},
                                          {Shape{9, 8, 7}, Shape{35, 30, 28}}}) {
        const auto spec = spec_of(image, output, boundary);
        WARPALIGN_CAPTURE(spec);
        const auto spline = test::random_spline(spec, 71);
        const bool space = image.depth > 1;
        const std::array<int, 3> by{space ? -13 : -70, space ? -11 : -61, space ? -10 : 0};
        const auto points = test::points_of(spec, [&](double x, double y, double z) {
          return Point{x + by[0], y + by[1], z + by[2]};
        });
        const auto found =
            test::interpolated_by(device, spec, spline, shifted(by[0], by[1], by[2]));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
          wrong += found.values[i] != reference::evaluate(spline, points[i]).value ? 1 : 0;
        }
        CHECK(wrong == 0);
      }
    }
  });
}

// A row of the output runs down the source or through its planes. Tiles lie inside the image and
// across its edges. Uses modes without jumps.
TEST_CASE("interpolate linear: rotated by nearly a right angle") {
  const HomogeneousMatrix plane = warpalign::Affine{0.11, -0.97, 66.3, 1.02, 0.13, -9.7};
  const auto about_z = HomogeneousMatrix::affine3(
      {0.11, -0.97, 0.02, 33.3, 1.02, 0.13, -0.03, -4.7, 0.04, 0.01, 0.98, 2.1});
  const auto about_y = HomogeneousMatrix::affine3(
      {0.13, 0.05, -0.99, 35.1, 0.02, 1.03, 0.04, -3.2, 0.96, -0.03, 0.12, 1.4});
  const auto at = [](const HomogeneousMatrix& t, std::size_t row, double x, double y, double z) {
    return t.m[row] * x + t.m[row + 1] * y + t.m[row + 2] * z + t.m[row + 3];
  };
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Boundary boundary : {Boundary::mirror, Boundary::reflect, Boundary::nearest,
                                    Boundary::grid_constant, Boundary::grid_wrap}) {
      for (const auto& [shape, transform] : {std::pair{Shape{90, 170}, plane},
                                             {Shape{45, 41, 37}, about_z},
                                             {Shape{45, 41, 37}, about_y}}) {
        const auto spec = spec_of(shape, shape, boundary);
        WARPALIGN_CAPTURE(spec);
        const auto spline = test::random_spline(spec, 73);
        const auto points = test::points_of(spec, [&](double x, double y, double z) {
          return Point{at(transform, 0, x, y, z), at(transform, 4, x, y, z),
                       at(transform, 8, x, y, z)};
        });
        const auto found = test::interpolated_by(device, spec, spline, transform);
        // Points are computed in more than single precision, to 1e-6 of a pixel.
        CHECK(test::worst(spline, points, found, {4e-7, 1e-6}) <= 1);
      }
    }
  });
}

// 1/3 is rounded: without compensation, every other corner would be cval.
TEST_CASE("interpolate linear: a zoom meets the samples at its corners") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Boundary boundary : {Boundary::constant, Boundary::wrap}) {
      const auto spec = spec_of({47, 35}, {3 * 46 + 1, 3 * 34 + 1}, boundary);
      WARPALIGN_CAPTURE(spec);
      const auto spline = test::random_spline(spec, 72);
      const auto found = test::interpolated_by(
          device, spec, spline, HomogeneousMatrix::zoom(spec.images.shape, spec.output));
      // The error of points, 1e-6, times the largest slope; cval is further off.
      const double allowed = 4e-6 * test::largest(spline.coefficients);
      test::WorstError worst;
      for (std::int64_t y = 0; y < spec.images.shape.height; ++y) {
        for (std::int64_t x = 0; x < spec.images.shape.width; ++x) {
          worst.add(std::abs(found.at(3 * x, 3 * y) - spline.coefficients.at(x, y)));
        }
      }
      CHECK(worst.value() <= allowed);
    }
  });
}

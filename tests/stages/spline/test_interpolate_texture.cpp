// B-spline evaluation by hardware linear lookups against the oracle, on every device.
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/splines.hpp"

#include <warpalign/stages/interpolate.hpp>

#include <algorithm>
#include <cmath>

namespace {

using test::Point;
using warpalign::Boundary;
using warpalign::InterpolateSpec;
using warpalign::PixelType;
using warpalign::Precision;
using warpalign::Shape;

InterpolateSpec spec_of(int dimensions, int degree, Boundary boundary, Precision precision) {
  InterpolateSpec spec;
  spec.images.shape = dimensions == 2 ? Shape{43, 38, 1} : Shape{13, 11, 9};
  spec.output = dimensions == 2 ? Shape{61, 31, 1} : Shape{17, 9, 7};
  spec.images.dimensions = dimensions;
  spec.spline.degree = degree;
  spec.spline.boundary = boundary;
  spec.spline.cval = 0.375;
  spec.spline.precision = precision;
  return spec;
}

/// The error of the hardware's 8 fractional bits, in values. It rounds the position of a lookup to
/// 1/256 of a pixel, an error of at most 2^-9 along each axis. Linear interpolation multiplies
/// this by the difference of two neighbours, at most the coefficients' range (including cval). The
/// 2^d weights are multiples of 1/256, too (measured on an H100: each of four is within 2^-9 of
/// the product); they sum to 1, so half of them may be too large and half too small. Equation 5 is
/// a weighted mean of such lookups (g0 + g1 = 1), so its error is no larger. Coordinates below 64
/// + 1/2 are rounded to 2^-18 before that.
double hardware_error(const reference::Spline& spline) {
  const auto [low, high] =
      std::minmax_element(spline.coefficients.values.begin(), spline.coefficients.values.end());
  const double range = std::max(*high, spline.cval) - std::min(*low, spline.cval);
  const double places = spline.dimensions * (0x1p-9 + 0x1p-17);
  const double weights = std::exp2(spline.dimensions - 1) * 0x1p-9;
  return range * (places + weights);
}

/// The additional error of the table with 128 entries. Between entries 1/127 apart, linear
/// interpolation of a function is off by at most f'' / (8 127^2): 6.8e-6 of a pixel for h0 and h1
/// (|f''| <= 0.87), and 7.8e-6 for g0 (|f''| <= 1), which mixes two lookups that differ by at most
/// the range.
double table_error(const reference::Spline& spline) {
  const auto [low, high] =
      std::minmax_element(spline.coefficients.values.begin(), spline.coefficients.values.end());
  const double range = std::max(*high, spline.cval) - std::min(*low, spline.cval);
  return spline.dimensions * range * (6.8e-6 + 7.8e-6);
}

void compare(const warpalign::Device& device, const InterpolateSpec& spec) {
  CAPTURE(spec.images.dimensions);
  CAPTURE(spec.spline.degree);
  CAPTURE(std::string(warpalign::name_of(spec.spline.boundary)));
  const auto spline = test::random_spline(spec, 51);
  const double scale = std::max(test::largest(spline.coefficients), std::abs(spline.cval));
  const auto points = test::random_points(spec, 52);
  const auto found = test::interpolated_at(device, spec, spline, points);
  double error = 4e-7;  // for loads from memory: the tolerance of `full`
  if (device.info().sampling == warpalign::Sampling::texture)
    error += hardware_error(spline) / scale;
  if (spec.spline.precision == Precision::texture_lut && spec.spline.degree == 3) {
    error += table_error(spline) / scale;
  }
  CHECK(test::worst(spline, points, found, {error, 0}) <= 1);
}

}  // namespace

TEST_CASE("interpolate texture: within 8 fractional bits of the oracle, in every mode") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      for (const int degree : {1, 3}) {
        for (const Boundary boundary : test::boundaries()) {
          compare(device, spec_of(dimensions, degree, boundary, Precision::texture));
        }
      }
    }
  });
}

TEST_CASE("interpolate texture: rows of any alignment") {
  // Devices may read aligned rows in place, and copy others, in words if possible.
  test::on_every_device([](const warpalign::Device& device) {
    for (const std::int64_t width : {43, 44, 46, 48, 64}) {
      for (const int degree : {1, 3}) {
        for (const Boundary boundary : {Boundary::mirror, Boundary::nearest}) {
          auto spec = spec_of(2, degree, boundary, Precision::texture);
          spec.images.shape.width = width;
          compare(device, spec);
        }
      }
    }
  });
}

TEST_CASE("interpolate texture: Sigg and Hadwiger's table is close to it") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const int dimensions : {2, 3}) {
      for (const int degree : {1, 3}) {
        for (const Boundary boundary : {Boundary::mirror, Boundary::nearest, Boundary::grid_wrap}) {
          compare(device, spec_of(dimensions, degree, boundary, Precision::texture_lut));
        }
      }
    }
  });
}

TEST_CASE("interpolate texture: NaN, infinite and huge coordinates have the mode's value") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Boundary boundary : test::boundaries()) {
      for (const int degree : {1, 3}) {
        auto spec = spec_of(2, degree, boundary, Precision::texture);
        CAPTURE(std::string(warpalign::name_of(boundary)));
        CAPTURE(degree);
        spec.output = {5, 1, 1};
        const std::vector<Point> points{
            {NAN, 4, 0}, {4, NAN, 0}, {INFINITY, 4.5, 0}, {4.5, -INFINITY, 0}, {NAN, INFINITY, 0}};
        const auto spline = test::random_spline(spec, 53);
        const double scale = test::largest(spline.coefficients);
        const auto found = test::interpolated_at(device, spec, spline, points);
        const double error = 4e-7 + hardware_error(spline) / scale;
        CHECK(test::worst(spline, points, found, {error, 0}) <= 1);
      }
    }
  });
}

TEST_CASE(
    "interpolate texture: affine transforms, within and far beyond the image, in every mode") {
  // Rotated, sheared, mirrored; the last one reaches up to six widths away.
  const std::vector<warpalign::Affine> maps{{0.95, -0.31, 7.123, 0.29, 0.97, -5.377},
                                            {-1.13, 0.57, 50.71, 0.21, 1.49, -17.43},
                                            {5.17, 0.83, -111.39, -0.61, 7.31, -70.83}};
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Boundary boundary : test::boundaries()) {
      for (const int degree : {1, 3}) {
        CAPTURE(std::string(warpalign::name_of(boundary)));
        CAPTURE(degree);
        for (const PixelType type : {PixelType::f32, PixelType::f16}) {
          auto spec = spec_of(2, degree, boundary, Precision::texture);
          spec.images.shape.width = 48;  // devices may read this in place
          spec.output_type = type;
          const auto spline = test::random_spline(spec, 55);
          const double scale = std::max(test::largest(spline.coefficients), std::abs(spline.cval));
          for (const warpalign::Affine& map : maps) {
            const auto points = test::points_of(spec, [&](double x, double y, double) {
              return Point{map.a * x + map.b * y + map.c, map.d * x + map.e * y + map.f, 0};
            });
            const auto found = test::interpolated(
                device, spec, spline,
                [&](const auto& plan, auto& stream, const auto& coefficients, auto& output) {
                  plan.execute(stream, coefficients, warpalign::HomogeneousMatrix(map), output);
                });
            // Halves add 2^-11. Coordinates below 2^9 are rounded a few times in single precision,
            // by at most 2^-16 each.
            double error = 4e-7 + (type == PixelType::f16 ? 0x1p-11 : 0);
            if (device.info().sampling == warpalign::Sampling::texture) {
              error += hardware_error(spline) / scale;
            }
            CHECK(test::worst(spline, points, found, {error, 4 * 0x1p-16}) <= 1);
          }
        }
      }
    }
  });
}

// The image is so large that some tiles of the output lie within one period of it, and others
// across its end.
TEST_CASE("interpolate texture: wrap, several periods away") {
  const warpalign::HomogeneousMatrix map(
      warpalign::Affine{0.86, -0.49, 3591.3, 0.51, 0.85, -1812.7});
  test::on_every_device([&](const warpalign::Device& device) {
    for (const int degree : {1, 3}) {
      auto spec = spec_of(2, degree, Boundary::wrap, Precision::texture);
      spec.images.shape = {304, 260, 1};
      spec.output = {270, 250, 1};
      const auto spline = test::random_spline(spec, 56);
      const double scale = test::largest(spline.coefficients);
      const auto points = test::points_of(spec, [&](double x, double y, double) {
        return test::transformed(map, {x, y, 0});
      });
      auto found = test::interpolated(
          device, spec, spline,
          [&](const auto& plan, auto& stream, const auto& coefficients, auto& output) {
            plan.execute(stream, coefficients, map, output);
          });
      CHECK(test::without_jumps(spec, spline, points, found) > points.size() / 2);
      // Coordinates below 2^12 are rounded a few times in single precision, by at most 2^-13 each.
      const double error = 4e-7 + hardware_error(spline) / scale;
      CHECK(test::worst(spline, points, found, {error, 4 * 0x1p-13}) <= 1);
    }
  });
}

TEST_CASE("interpolate texture: whole coordinates give exactly the smoothed samples") {
  test::on_every_device([](const warpalign::Device& device) {
    // At fractions of 0 degree 1 needs no rounding: the hardware returns the samples exactly.
    auto spec = spec_of(2, 1, Boundary::mirror, Precision::texture);
    spec.output = spec.images.shape;
    const auto spline = test::random_spline(spec, 54);
    const auto found = test::interpolated(
        device, spec, spline,
        [](const auto& plan, auto& stream, const auto& coefficients, auto& output) {
          plan.execute(stream, coefficients, warpalign::HomogeneousMatrix(), output);
        });
    CHECK(test::max_difference(found, spline.coefficients) == 0);
  });
}

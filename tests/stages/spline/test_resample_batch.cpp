// Batches through the prefilter, and through prefilter and evaluation in one plan: each array
// equals that of a single plan, on every device. A prefilter divides its work by the amount of
// work, so results may differ by rounding.
#include "support/batches.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/resample.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace {

using test::Bytes;
using warpalign::Affine;
using warpalign::Boundary;
using warpalign::Device;
using warpalign::Error;
using warpalign::HomogeneousMatrix;
using warpalign::PixelType;
using warpalign::PrefilterMethod;
using warpalign::PrefilterPlan;
using warpalign::PrefilterSpec;
using warpalign::ResamplePlan;
using warpalign::ResampleSpec;
using warpalign::Shape;

constexpr std::int64_t arrays = 3;

/// Two results, each within 8e-7 of the largest coefficient, the tolerance of prefilter and
/// evaluation together. The cubic prefilter multiplies the largest sample by up to 3 along each
/// axis.
double rounding_of(int dimensions, double largest_sample) {
  return 2 * 8e-7 * std::pow(3.0, dimensions) * largest_sample;
}

Bytes filtered(const Device& device, const PrefilterSpec& spec, const Bytes& samples) {
  auto stream = device.make_stream();
  const auto input = test::image_of(
      device, stream, spec.input,
      warpalign::stacked(spec.images.shape, spec.images.dimensions, spec.images.count), samples);
  auto output = device.make_image(PixelType::f32, PrefilterPlan::coefficient_shape(spec));
  test::poison(stream, output);
  PrefilterPlan(device, spec).execute(stream, input, output);
  return test::bytes_of(stream, output);
}

template <class Points>
Bytes resampled(const Device& device, const ResampleSpec& spec, const Bytes& samples,
                const Points& points) {
  auto stream = device.make_stream();
  const auto input = test::image_of(
      device, stream, spec.input,
      warpalign::stacked(spec.images.shape, spec.images.dimensions, spec.images.count), samples);
  auto output = device.make_image(
      spec.output_type, warpalign::stacked(spec.output, spec.images.dimensions, spec.images.count));
  test::poison(stream, output);
  ResamplePlan plan(device, spec);
  plan.execute(stream, input, points, output);
  return test::bytes_of(stream, output);
}

ResampleSpec spec_of(int dimensions, Boundary boundary) {
  ResampleSpec spec;
  spec.images.dimensions = dimensions;
  spec.images.shape = dimensions == 1   ? Shape{90, 1, 1}
                      : dimensions == 2 ? Shape{140, 150, 1}
                                        : Shape{23, 17, 19};
  spec.output = dimensions == 1   ? Shape{70, 1, 1}
                : dimensions == 2 ? Shape{120, 130, 1}
                                  : Shape{21, 15, 12};
  spec.spline.boundary = boundary;
  spec.spline.cval = 0.25;
  spec.images.count = arrays;
  return spec;
}

/// Shifts by less than a sample, a rotation, and a factor of 2. In two dimensions a backend may
/// have a fused kernel for some of them only.
std::vector<HomogeneousMatrix> drift(int dimensions, bool shrinks) {
  if (dimensions == 1) {
    return {Affine{1, 0, 0.3, 0, 1, 0}, Affine{0.9, 0, 1.7, 0, 1, 0}, Affine{2, 0, 5, 0, 1, 0}};
  }
  if (dimensions == 3) {
    return {HomogeneousMatrix::affine3({1, 0, 0, 0.3, 0, 1, 0, 0.6, 0, 0, 1, 0.2}),
            HomogeneousMatrix::affine3({0.9, 0.1, 0, 1, -0.1, 0.9, 0, 2, 0, 0, 1, 1.5}),
            HomogeneousMatrix::affine3({1, 0, 0.2, -2, 0, 1, 0, 1, 0.1, 0, 1, 3})};
  }
  const double factor = shrinks ? 2 : 1;
  return {Affine{1, 0, 0.3, 0, 1, 4.6}, Affine{0.2, 0.95, 3, -0.95, 0.2, 120},
          Affine{factor, 0, 2.5, 0, factor, 1}};
}

void compare(const Device& device, const ResampleSpec& spec, bool shrinks, double largest_sample) {
  CAPTURE(spec.images.dimensions);
  CAPTURE(std::string(warpalign::name_of(spec.spline.boundary)));
  CAPTURE(shrinks);
  const Bytes samples = test::random_pixels(
      spec.input, warpalign::stacked(spec.images.shape, spec.images.dimensions, spec.images.count),
      21);
  const auto transforms = drift(spec.images.dimensions, shrinks);
  const Bytes alike = resampled(device, spec, samples, transforms[1]);
  const Bytes each = resampled(device, spec, samples, transforms);
  ResampleSpec alone = spec;
  alone.images.count = 1;
  const double rounding = rounding_of(spec.images.dimensions, largest_sample);
  for (std::int64_t i = 0; i < arrays; ++i) {
    CAPTURE(i);
    const Bytes own = test::array_of(samples, arrays, i);
    CHECK(test::largest_difference(test::array_of(alike, arrays, i),
                                   resampled(device, alone, own, transforms[1])) <= rounding);
    const HomogeneousMatrix& transform = transforms[static_cast<std::size_t>(i)];
    CHECK(test::largest_difference(test::array_of(each, arrays, i),
                                   resampled(device, alone, own, transform)) <= rounding);
  }
}

}  // namespace

TEST_CASE("resample batch: dimensions and boundaries") {
  test::on_every_device([](const Device& device) {
    for (const Boundary boundary : {Boundary::mirror, Boundary::nearest, Boundary::constant}) {
      for (const int dimensions : {1, 2, 3}) {
        compare(device, spec_of(dimensions, boundary), false, 1);
      }
      compare(device, spec_of(2, boundary), true, 1);
    }
  });
}

TEST_CASE("resample batch: converted samples, the FIR prefilter, and no prefilter") {
  test::on_every_device([](const Device& device) {
    ResampleSpec spec = spec_of(2, Boundary::mirror);
    constexpr double largest_byte = 63, largest_pair = 63 * 257;
    spec.input = PixelType::u8;
    compare(device, spec, false, largest_byte);
    spec.input = PixelType::i16;
    compare(device, spec, false, largest_pair);
    spec.input = PixelType::f32;
    spec.spline.prefilter = PrefilterMethod::fir;
    compare(device, spec, false, 1);
    spec.spline.prefilter.reset();
    compare(device, spec, false, 1);
  });
}

TEST_CASE("resample batch: mismatched images are refused") {
  test::on_every_device([](const Device& device) {
    ResampleSpec spec = spec_of(2, Boundary::mirror);
    for (const std::int64_t batch : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{1} << 40}) {
      spec.images.count = batch;
      CHECK_THROWS_AS(ResamplePlan(device, spec), Error);
    }
    spec.images.count = arrays;
    ResamplePlan plan(device, spec);
    auto stream = device.make_stream();
    const auto image = device.make_image(PixelType::f32, {140, 150, arrays});
    const auto fewer = device.make_image(PixelType::f32, {140, 150, arrays - 1});
    auto output = device.make_image(PixelType::f32, {120, 130, arrays});
    std::vector<HomogeneousMatrix> transforms = drift(2, false);
    CHECK_THROWS_AS(plan.execute(stream, fewer, transforms, output), Error);
    transforms.pop_back();
    CHECK_THROWS_AS(plan.execute(stream, image, transforms, output), Error);
  });
}

TEST_CASE("prefilter batch: each array is filtered independently") {
  test::on_every_device([](const Device& device) {
    for (const int dimensions : {1, 2, 3}) {
      for (const Boundary boundary : {Boundary::mirror, Boundary::nearest}) {
        for (const auto method :
             {PrefilterMethod::exact, PrefilterMethod::fir, PrefilterMethod::iir_line}) {
          CAPTURE(dimensions);
          CAPTURE(static_cast<int>(method));
          PrefilterSpec spec{
              .images = {.shape = {33, dimensions > 1 ? 21 : 1, dimensions > 2 ? 18 : 1}}};
          spec.images.dimensions = dimensions;
          spec.spline.boundary = boundary;
          spec.spline.prefilter = method;
          PrefilterSpec alone = spec;
          spec.images.count = arrays;
          const Bytes samples = test::random_pixels(
              PixelType::f32, warpalign::stacked(spec.images.shape, dimensions, arrays), 22);
          const Bytes found = filtered(device, spec, samples);
          for (std::int64_t i = 0; i < arrays; ++i) {
            CAPTURE(i);
            const Bytes own = filtered(device, alone, test::array_of(samples, arrays, i));
            CHECK(test::largest_difference(test::array_of(found, arrays, i), own) <=
                  rounding_of(dimensions, 1));
          }
        }
      }
    }
  });
}

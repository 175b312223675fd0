// The Fourier transform of volumes against FFTW in double precision, on every device.
#include "reference/fft/fft.hpp"
#include "support/clfft_device.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/fft.hpp>

#include <cmath>

namespace {

using warpalign::PixelType;
using warpalign::RealFftPlan;
using warpalign::Shape;

// As for images (test_fft.cpp), where the largest error seen is 2e-6, and twice that for a round
// trip. A third axis adds its logarithm, and the sum stays far below the tolerance.
constexpr double forward_tolerance = 2e-6;
constexpr double round_trip_tolerance = 4e-6;

void compare(const warpalign::Device& device, const Shape& shape) {
  CAPTURE(to_string(shape));
  auto stream = device.make_stream();
  const auto volume = test::random_volume(shape, -1, 1, 30);
  const auto real = test::to_device(device, stream, volume);
  auto spectrum = device.make_image(PixelType::c32, RealFftPlan::half_spectrum(shape));
  test::poison(stream, spectrum);
  const RealFftPlan plan(device, {shape, 3});
  plan.forward(stream, real, spectrum);
  const auto found = test::complex_volume_from_device(stream, spectrum);
  CHECK(test::relative_error(found.values, reference::forward(volume).values) <= forward_tolerance);
  CHECK(test::volume_from_device(stream, real).values == volume.values);  // forward keeps its input

  auto back = device.make_image(PixelType::f32, shape);
  test::poison(stream, back);
  plan.inverse(stream, spectrum, back);
  auto expected = volume;
  for (double& value : expected.values) value *= static_cast<double>(shape.pixels());
  CHECK(test::relative_error(test::volume_from_device(stream, back).values, expected.values) <=
        round_trip_tolerance);
}

}  // namespace

TEST_CASE("fft of volumes: forward and back, of any size") {
  test::on_every_device([](const warpalign::Device& device) {
    // Few shapes, since plans take seconds to compile on some devices: axes of 1, primes, powers
    // of 2.
    for (const Shape& shape : {Shape{1, 1, 1}, Shape{1, 6, 5}, Shape{6, 1, 5}, Shape{5, 4, 1},
                               Shape{17, 11, 19}, Shape{32, 16, 8}, Shape{30, 28, 26}}) {
      compare(device, shape);
    }
  });
}

TEST_CASE("fft of volumes: a batch of images of the same shape is another transform") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    const Shape shape{12, 10, 4};
    const auto volume = test::random_volume(shape, -1, 1, 31);
    const auto real = test::to_device(device, stream, volume);
    auto spectrum = device.make_image(PixelType::c32, RealFftPlan::half_spectrum(shape));
    const RealFftPlan images(device, {shape, 2});
    const RealFftPlan whole(device, {shape, 3});
    const auto expected = reference::forward(volume);
    images.forward(stream, real, spectrum);
    CHECK(test::relative_error(test::complex_volume_from_device(stream, spectrum).values,
                               expected.values) > 0.1);
    whole.forward(stream, real, spectrum);
    CHECK(test::relative_error(test::complex_volume_from_device(stream, spectrum).values,
                               expected.values) <= forward_tolerance);
  });
}

TEST_CASE("fft of volumes: clFFT too, which reports the sizes it cannot transform") {
  test::on_every_device([](const warpalign::Device& candidate) {
    const auto device = test::with_clfft(candidate);
    if (!device) return;
    compare(*device, {30, 28, 26});
    CHECK_THROWS_WITH_AS(RealFftPlan(*device, {{16, 16, 17}, 3}), doctest::Contains("vkfft"),
                         warpalign::Error);
  });
}

TEST_CASE("fft of volumes: other dimensions are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const int dimensions : {1, 4}) {
      CHECK_THROWS_AS(RealFftPlan(device, {{8, 8, 8}, dimensions}), warpalign::Error);
    }
  });
}

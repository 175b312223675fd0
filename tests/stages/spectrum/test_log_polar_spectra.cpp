// Whitened log-polar spectra of stacks against the oracles of the single steps, on every device.
#include "reference/spectrum/log_polar.hpp"
#include "reference/spectrum/magnitude.hpp"
#include "reference/spectrum/radial_whitening.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spectrum/log_polar_spectra.hpp>
#include <warpalign/error.hpp>
#include <warpalign/stages/fft.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace {

using warpalign::Image;
using warpalign::LogPolarSpectraPlan;
using warpalign::PixelType;
using warpalign::Shape;

constexpr std::int64_t images = 3;
constexpr float exponent = 0.3F;

void compare(const warpalign::Device& device, test::Size size, std::int64_t radii,
             std::int64_t angles) {
  CAPTURE(test::to_string(size));
  auto stream = device.make_stream();
  warpalign::Device on = device;
  const Shape image{size.width, size.height, 1};
  const Shape half = warpalign::RealFftPlan::half_spectrum(image);
  Image spectra = on.make_image(PixelType::c32, {half.width, half.height, images});
  std::vector<std::complex<float>> pixels;
  std::array<reference::Spectrum, images> each;
  for (std::uint32_t i = 0; i < images; ++i) {
    each[i] = test::random_spectrum(size.width, size.height, 20 + i);
    for (const std::complex<double>& value : each[i].values) {
      pixels.emplace_back(static_cast<float>(value.real()), static_cast<float>(value.imag()));
    }
  }
  stream.upload(pixels.data(), pixels.size() * sizeof pixels[0], spectra.buffer());
  Image output = on.make_image(PixelType::f32, {radii, angles, images});
  test::poison(stream, output);
  LogPolarSpectraPlan(device, {image, {radii, angles, 1}, images, exponent})
      .execute(stream, spectra, output);
  for (std::int64_t i = 0; i < images; ++i) {
    CAPTURE(i);
    const auto magnitude = reference::magnitude(each[static_cast<std::size_t>(i)], exponent);
    const auto expected =
        reference::radially_whitened(reference::log_polar(magnitude, size.width, radii, angles));
    const auto found = test::from_device(stream, output, i);
    test::WorstError worst;
    for (std::int64_t y = 0; y < angles; ++y) {
      for (std::int64_t x = 0; x < radii; ++x) {
        REQUIRE(std::isfinite(found.at(x, y)));
        worst.add(std::abs(found.at(x, y) - expected.at(x, y)));
      }
    }
    // As for log_polar, coordinates are off by 2e-6 of the larger side, and neighbouring powers
    // differ by less than their mean. Each power is then divided by a mean of rounded numbers.
    CHECK(worst.value() <=
          1e-5 * static_cast<double>(std::max(size.width, size.height)) / 64 + 1e-5);
  }
}

}  // namespace

TEST_CASE("log_polar_spectra: each image of a stack equals its steps in sequence") {
  test::on_every_device([](const warpalign::Device& device) {
    // With these grids no point lies on the very edge of the spectrum, except at radii that both
    // sides cut off.
    compare(device, {128, 128}, 128, 128);
    compare(device, {115, 115}, 100, 61);
    compare(device, {96, 64}, 40, 200);
  });
}

TEST_CASE("log_polar_spectra: an image without a spectrum stays 0 in a stack of others") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    warpalign::Device on = device;
    const Shape half = warpalign::RealFftPlan::half_spectrum({32, 32, 1});
    Image spectra = on.make_image(PixelType::c32, {half.width, half.height, 2});
    std::vector<std::complex<float>> pixels(static_cast<std::size_t>(spectra.shape().pixels()));
    for (std::size_t i = pixels.size() / 2; i < pixels.size(); ++i) {
      pixels[i] = {static_cast<float>(i % 7 + 1), static_cast<float>(i % 3)};
    }
    stream.upload(pixels.data(), pixels.size() * sizeof pixels[0], spectra.buffer());
    Image output = on.make_image(PixelType::f32, {32, 32, 2});
    test::poison(stream, output);
    LogPolarSpectraPlan(device, {{32, 32, 1}, {32, 32, 1}, 2, 1}).execute(stream, spectra, output);
    for (const double value : test::from_device(stream, output, 0).values) REQUIRE(value == 0);
    const auto other = test::from_device(stream, output, 1);
    CHECK(std::any_of(other.values.begin(), other.values.end(),
                      [](double value) { return value != 0; }));
  });
}

TEST_CASE("log_polar_spectra: invalid arguments are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const Shape image{32, 32, 1};
    CHECK_THROWS_AS(LogPolarSpectraPlan(device, {image, image, 0, 1}), warpalign::Error);
    CHECK_THROWS_AS(LogPolarSpectraPlan(device, {image, image, 1, 0}), warpalign::Error);
    CHECK_THROWS_AS(LogPolarSpectraPlan(device, {{0, 32, 1}, image, 1, 1}), warpalign::Error);
    auto stream = device.make_stream();
    warpalign::Device on = device;
    const Shape half = warpalign::RealFftPlan::half_spectrum(image);
    const Image spectra = on.make_image(PixelType::c32, half);
    Image output = on.make_image(PixelType::f32, image);
    LogPolarSpectraPlan two(device, {image, image, 2, 1});
    CHECK_THROWS_AS(two.execute(stream, spectra, output), warpalign::Error);
  });
}

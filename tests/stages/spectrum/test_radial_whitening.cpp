// Radial whitening against the oracle, on every device.
#include "reference/spectrum/radial_whitening.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>
#include <warpalign/error.hpp>

#include <cmath>

namespace {

using warpalign::PixelType;

// Magnitudes that decrease with the radius, and are 0 beyond a corner, as beyond the Nyquist
// frequency.
reference::Plane spectrum(const test::Size& size) {
  auto image = test::random_plane(size.width, size.height, 0.5, 1.5, 31);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      const double fall = 1.0 / static_cast<double>(1 + x);
      image.at(x, y) = static_cast<double>(static_cast<float>(image.at(x, y) * fall));
      if (x + y > size.width) image.at(x, y) = 0;
    }
  }
  return image;
}

}  // namespace

TEST_CASE("radial_whitening: every radius with a spectrum has mean 0") {
  // Values are up to 3 times a mean of up to 2049 floats, summed in 32 parts: about 64 roundings.
  constexpr double tolerance = 3 * 64 * 6e-8;
  test::on_every_device([&](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const auto image = spectrum(size);
      auto stream = device.make_stream();
      auto on_device = test::to_device(device, stream, image);
      warpalign::RadialWhiteningPlan(device, {on_device.shape()}).execute(stream, on_device);
      const auto found = test::from_device(stream, on_device);
      const auto expected = reference::radially_whitened(image);
      CHECK(test::max_difference(found, expected) <= tolerance);
    }
  });
}

TEST_CASE("radial_whitening: a picture without a spectrum stays 0") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    auto image = test::to_device(device, stream, reference::Plane(19, 7));
    warpalign::RadialWhiteningPlan(device, {image.shape()}).execute(stream, image);
    for (const double value : test::from_device(stream, image).values) REQUIRE(value == 0);
  });
}

// The cross-power spectra of many windows against the oracle, on every device.
#include "reference/spectrum/window_cross_power.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spectrum/window_cross_power.hpp>
#include <warpalign/error.hpp>

#include <complex>
#include <vector>

namespace {

using warpalign::Image;
using warpalign::PixelType;
using warpalign::WindowCrossPowerPlan;

Image stacked(const warpalign::Device& device, warpalign::Stream& stream,
              const std::vector<reference::Spectrum>& spectra) {
  std::vector<float> numbers;
  for (const reference::Spectrum& spectrum : spectra) {
    for (const auto& value : spectrum.values) {
      numbers.push_back(static_cast<float>(value.real()));
      numbers.push_back(static_cast<float>(value.imag()));
    }
  }
  warpalign::Device on = device;
  Image image = on.make_image(PixelType::c32, {spectra[0].width, spectra[0].height,
                                               static_cast<std::int64_t>(spectra.size())});
  stream.upload(numbers.data(), numbers.size() * sizeof(float), image.buffer());
  return image;
}

}  // namespace

TEST_CASE("window_cross_power: each window with the reference's window of the same number") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{16, 16}, {33, 20}, {64, 48}}) {
      CAPTURE(test::to_string(size));
      std::vector<reference::Spectrum> known;
      std::vector<reference::Spectrum> frames;
      for (std::uint32_t i = 0; i < 3; ++i) {
        known.push_back(test::random_spectrum(size.width, size.height, 20 + i));
      }
      for (std::uint32_t i = 0; i < 6; ++i) {
        frames.push_back(test::random_spectrum(size.width, size.height, 40 + i));
      }
      known[1].at(0, 0) = 0;
      for (const float sigma : {0.0F, 0.5F}) {
        auto stream = device.make_stream();
        const Image reference = stacked(device, stream, known);
        Image moving = stacked(device, stream, frames);
        WindowCrossPowerPlan(device, {{size.width, size.height, 1}, 3, 2, sigma})
            .execute(stream, reference, moving, moving);
        for (std::size_t i = 0; i < frames.size(); ++i) {
          const auto expected = reference::window_cross_power(frames[i], known[i % 3], size.width,
                                                              static_cast<double>(sigma));
          // A product of two factors and a weight, each within a few ulp (6e-8) of its size.
          CHECK(test::max_difference(
                    test::spectrum_from_device(stream, moving, static_cast<std::int64_t>(i)),
                    expected) <= 2e-6 * test::largest(expected));
        }
      }
    }
  });
}

TEST_CASE("window_cross_power: without whitening, spectra times conjugate spectra, also in place") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{16, 16}, {33, 20}}) {
      std::vector<reference::Spectrum> spectra;
      for (std::uint32_t i = 0; i < 3; ++i) {
        spectra.push_back(test::random_spectrum(size.width, size.height, 60 + i));
      }
      auto stream = device.make_stream();
      Image image = stacked(device, stream, spectra);
      WindowCrossPowerPlan(device, {{size.width, size.height, 1}, 3, 1, 0, false})
          .execute(stream, image, image, image);
      for (std::size_t i = 0; i < spectra.size(); ++i) {
        reference::Spectrum expected = spectra[i];
        for (auto& value : expected.values) value *= std::conj(value);
        // A product of two factors, each within an ulp (6e-8) of its size.
        CHECK(test::max_difference(
                  test::spectrum_from_device(stream, image, static_cast<std::int64_t>(i)),
                  expected) <= 5e-7 * test::largest(expected));
      }
    }
  });
}

TEST_CASE("window_cross_power: wrong arguments are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(WindowCrossPowerPlan(device, {{16, 16, 1}, 0, 1, 0}), warpalign::Error);
    CHECK_THROWS_AS(WindowCrossPowerPlan(device, {{16, 16, 1}, 1, 0, 0}), warpalign::Error);
    CHECK_THROWS_AS(WindowCrossPowerPlan(device, {{16, 16, 1}, 1, 1, -1}), warpalign::Error);
  });
}

// Phase correlation against the oracle, and its shift for images with a known shift, on every
// device.
#include "reference/fft/fft.hpp"
#include "reference/spectrum/cross_power.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/phase_correlation.hpp>

#include <cmath>
#include <complex>
#include <numbers>

namespace {

using warpalign::CorrelationPeak;
using warpalign::PhaseCorrelationPlan;
using warpalign::PixelType;

struct Correlation {
  reference::Plane surface;
  CorrelationPeak peak;
};

Correlation correlate(const warpalign::Device& device, const reference::Plane& first,
                      const reference::Plane& second, float sigma = 0) {
  auto stream = device.make_stream();
  const auto reference = test::to_device(device, stream, first);
  const auto moving = test::to_device(device, stream, second);
  auto surface = device.make_image(PixelType::f32, reference.shape());
  test::poison(stream, surface);
  const PhaseCorrelationPlan plan(device, {reference.shape(), sigma});
  plan.execute(stream, reference, moving, surface);
  const CorrelationPeak peak = plan.find_peak();
  return {test::from_device(stream, surface), peak};
}

/// moving(x) with image(x) = moving(x - shift), periodic: a phase shift of the spectrum.
reference::Plane shifted(const reference::Plane& image, double dx, double dy) {
  reference::Spectrum spectrum = reference::forward(image);
  for (std::int64_t v = 0; v < spectrum.height; ++v) {
    for (std::int64_t u = 0; u < spectrum.width; ++u) {
      const double cycles = dx * reference::nyquist_units(u, image.width) / 2 +
                            dy * reference::nyquist_units(v, image.height) / 2;
      spectrum.at(u, v) *= std::polar(1.0, 2 * std::numbers::pi * cycles);
    }
  }
  reference::Plane result = reference::inverse(spectrum, image.width);
  const auto pixels = static_cast<double>(image.values.size());
  for (double& value : result.values) {
    value = static_cast<double>(static_cast<float>(value / pixels));
  }
  return result;
}

}  // namespace

TEST_CASE("phase_correlation: the surface, weighted or not") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{64, 48}, test::Size{45, 77}}) {
      CAPTURE(test::to_string(size));
      const auto first = test::random_plane(size.width, size.height, 0, 1, 71);
      const auto second = test::random_plane(size.width, size.height, 0, 1, 72);
      for (const float sigma : {0.0F, 0.4F}) {
        const auto product =
            reference::cross_power(reference::forward(first), reference::forward(second),
                                   size.width, static_cast<double>(sigma), false);
        const auto expected = reference::inverse(product, size.width);
        const auto found = correlate(device, first, second, sigma).surface;
        // The phase of coefficients near 0 is uncertain in single precision, which adds to the
        // 2e-6 of a transform.
        CHECK(test::relative_error(found.values, expected.values) <= 2e-5);
      }
    }
  });
}

TEST_CASE("phase_correlation: the shift, its sign and its wrap-around") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(60, 50, 0, 1, 73);
    for (const auto& [dx, dy] : {std::pair(0, 0), std::pair(7, -4), std::pair(-29, 24)}) {
      CAPTURE(dx);
      const CorrelationPeak peak = correlate(device, image, shifted(image, dx, dy)).peak;
      // The parabola through a single high pixel and its neighbours, which are noise of single
      // precision.
      CHECK(std::abs(peak.shift.x - dx) <= 1e-3);
      CHECK(std::abs(peak.shift.y - dy) <= 1e-3);
      CHECK(peak.height == doctest::Approx(1).epsilon(1e-4));
      CHECK(peak.deviations == doctest::Approx(std::sqrt(60.0 * 50)).epsilon(1e-4));
    }
  });
}

TEST_CASE("phase_correlation: a fraction of a pixel") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(64, 64, 0, 1, 74);
    const CorrelationPeak peak = correlate(device, image, shifted(image, 3.25, -8.4), 0.2F).peak;
    // The weighted peak is a Gaussian of standard deviation 1 / (0.2 pi) = 1.6 pixels, for which
    // the parabola's vertex is off by less than 0.02 of a pixel.
    CHECK(std::abs(peak.shift.x - 3.25) <= 0.02);
    CHECK(std::abs(peak.shift.y + 8.4) <= 0.02);
  });
}

TEST_CASE("phase_correlation: unrelated images") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto first = test::random_plane(128, 128, 0, 1, 75);
    const auto second = test::random_plane(128, 128, 0, 1, 76);
    const CorrelationPeak peak = correlate(device, first, second).peak;
    CHECK(peak.height < 0.1);
    // Only the mean correlates: the peak is the largest of 16384 nearly normal values.
    CHECK(peak.deviations > 3);
    CHECK(peak.deviations < 6);
  });
}

TEST_CASE("phase_correlation: invalid input is refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(PhaseCorrelationPlan(device, {{8, 8, 2}}), warpalign::Error);
    CHECK_THROWS_AS(PhaseCorrelationPlan(device, {{8, 8, 1}, -1.0F}), warpalign::Error);
    auto stream = device.make_stream();
    const PhaseCorrelationPlan plan(device, {{8, 8, 1}});
    CHECK_THROWS_AS(static_cast<void>(plan.find_peak()), warpalign::Error);
    const auto image = device.make_image(PixelType::f32, {8, 8, 1});
    const auto other = device.make_image(PixelType::f32, {8, 9, 1});
    auto surface = device.make_image(PixelType::f32, {8, 8, 1});
    CHECK_THROWS_AS(plan.execute(stream, image, other, surface), warpalign::Error);
  });
}

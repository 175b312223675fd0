// Log-polar resampling against the oracle, on every device.
#include "reference/spectrum/log_polar.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/log_polar.hpp>

#include <algorithm>
#include <cmath>

namespace {

void compare(const warpalign::Device& device, test::Size size, std::int64_t radii,
             std::int64_t angles) {
  CAPTURE(test::to_string(size));
  auto stream = device.make_stream();
  const warpalign::Shape image{size.width, size.height, 1};
  const auto half = warpalign::RealFftPlan::half_spectrum(image);
  const auto magnitude = test::random_plane(half.width, half.height, 0, 1, 13);
  const auto input = test::to_device(device, stream, magnitude);
  auto output = device.make_image(warpalign::PixelType::f32, {radii, angles, 1});
  test::poison(stream, output);
  warpalign::LogPolarPlan(device, {image, {radii, angles, 1}}).execute(stream, input, output);
  auto found = test::from_device(stream, output);
  const auto expected = reference::log_polar(magnitude, size.width, radii, angles);

  // Radii are up to half the larger side. In single precision exp and the product change
  // coordinates by about 2e-6 of that, and neighbours differ by up to 1 along each axis.
  const double off = 2e-6 * static_cast<double>(std::max(size.width, size.height)) + 2e-6;
  for (std::int64_t j = 0; j < angles; ++j) {
    for (std::int64_t i = 0; i < radii; ++i) {
      // At the very edge of the spectrum, rounding decides whether a value is 0.
      if (std::abs(reference::log_polar_edge_distance(size.width, size.height, radii, angles, i,
                                                      j)) < 2 * off) {
        CHECK(std::isfinite(found.at(i, j)));
        found.at(i, j) = expected.at(i, j);
      }
    }
  }
  CHECK(test::max_difference(found, expected) <= 2 * off);
}

}  // namespace

TEST_CASE("log_polar: square, oblong, odd and degenerate images") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) compare(device, size, size.width, size.height);
    compare(device, {128, 96}, 40, 200);
  });
}

TEST_CASE("log_polar: the grid follows equations 11 and 12") {
  const auto grid = warpalign::LogPolarPlan::grid({{512, 512, 1}, {512, 512, 1}});
  CHECK(grid.angle_step == doctest::Approx(3.14159265358979 / 512));
  CHECK(std::pow(std::exp(grid.log_base), 512) == doctest::Approx(512));
}

// The normalised cross-power spectrum against the oracle, on every device.
#include "reference/spectrum/cross_power.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/error.hpp>

#include <cmath>

namespace {

using warpalign::CrossPowerPlan;
using warpalign::CrossPowerSpec;

void compare(const warpalign::Device& device, test::Size size, const reference::Spectrum& a,
             const reference::Spectrum& b, float sigma, bool with_rotated_180) {
  auto stream = device.make_stream();
  const auto da = test::to_device(device, stream, a);
  const auto db = test::to_device(device, stream, b);
  auto output = device.make_image(warpalign::PixelType::c32,
                                  {da.shape().width, da.shape().height, with_rotated_180 ? 2 : 1});
  test::poison(stream, output);
  CrossPowerPlan(device, {{size.width, size.height, 1}, sigma, with_rotated_180})
      .execute(stream, da, db, output);
  const auto s = static_cast<double>(sigma);
  // Unit numbers: a product of two normalised factors, a weight, each a few ulp (6e-8).
  CHECK(test::max_difference(test::spectrum_from_device(stream, output, 0),
                             reference::cross_power(a, b, size.width, s, false)) <= 2e-6);
  if (with_rotated_180) {
    CHECK(test::max_difference(test::spectrum_from_device(stream, output, 1),
                               reference::cross_power(a, b, size.width, s, true)) <= 2e-6);
  }
}

}  // namespace

TEST_CASE(
    "cross_power: every size, weighted or not, with and without the rotation by 180 degrees") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const auto a = test::random_spectrum(size.width, size.height, 14);
      const auto b = test::random_spectrum(size.width, size.height, 15);
      compare(device, size, a, b, 0.0F, false);
      compare(device, size, a, b, 0.3F, true);
    }
  });
}

TEST_CASE("cross_power: zero, tiny and huge coefficients give unit numbers or zero") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Size size{8, 4};
    auto a = test::random_spectrum(8, 4, 16);
    const auto b = test::random_spectrum(8, 4, 17);
    a.at(0, 0) = 0;
    for (auto& value : a.values) {
      value = {static_cast<double>(static_cast<float>(value.real() * 1e30)),
               static_cast<double>(static_cast<float>(value.imag() * 1e30))};
    }
    compare(device, size, a, b, 0.0F, true);
  });
}

TEST_CASE("cross_power: the total weights are the sums over the whole spectrum") {
  CHECK(CrossPowerPlan::total_weight({{12, 7, 1}, 0.0F, false}) == doctest::Approx(84));
  const CrossPowerSpec spec{{12, 7, 1}, 0.4F, false};
  double sum = 0;
  double squares = 0;
  for (int v = -3; v <= 3; ++v) {
    for (int u = -5; u <= 6; ++u) {
      const double rho2 = std::pow(2.0 * u / 12, 2) + std::pow(2.0 * v / 7, 2);
      const double weight = std::exp(-rho2 / (2 * 0.4 * 0.4));
      sum += weight;
      squares += weight * weight;
    }
  }
  CHECK(CrossPowerPlan::total_weight(spec) == doctest::Approx(sum).epsilon(1e-6));
  CHECK(CrossPowerPlan::total_squared_weight(spec) == doctest::Approx(squares).epsilon(1e-6));
}

TEST_CASE("cross_power: a negative sigma is refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(CrossPowerPlan(device, {{8, 8, 1}, -1.0F, false}), warpalign::Error);
  });
}

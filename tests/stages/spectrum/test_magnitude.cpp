// The centred spectrum magnitude against the oracle, on every device.
#include "reference/spectrum/magnitude.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/magnitude.hpp>

#include <cmath>

namespace {

void compare(const warpalign::Device& device, test::Size size, const reference::Spectrum& spectrum,
             float exponent) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, spectrum);
  auto output = device.make_image(warpalign::PixelType::f32, input.shape());
  test::poison(stream, output);
  warpalign::MagnitudePlan(device, {{size.width, size.height, 1}, exponent})
      .execute(stream, input, output);
  const auto found = test::from_device(stream, output);
  const auto expected = reference::magnitude(spectrum, static_cast<double>(exponent));
  // OpenCL's powr may be off by 16 ulp (9.5e-7), and is called twice, with a few more roundings.
  CHECK(test::max_relative_difference(found, expected) <= 3e-6);
}

}  // namespace

TEST_CASE("magnitude: the paper's magnitude and its powers, of every size") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const auto spectrum = test::random_spectrum(size.width, size.height, 12);
      compare(device, size, spectrum, 1.0F);
      compare(device, size, spectrum, 0.3F);
    }
  });
}

TEST_CASE("magnitude: zero, tiny and huge coefficients") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Size size{8, 4};
    reference::Spectrum spectrum(5, 4);
    spectrum.at(1, 0) = {3e30, -4e30};
    spectrum.at(2, 1) = {3e-30, 4e-30};
    spectrum.at(3, 2) = {0, -2};
    for (auto& value : spectrum.values) {
      value = {static_cast<double>(static_cast<float>(value.real())),
               static_cast<double>(static_cast<float>(value.imag()))};
    }
    compare(device, size, spectrum, 1.0F);
    compare(device, size, spectrum, 0.5F);
  });
}

TEST_CASE("magnitude: exponents that are not positive numbers are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const float exponent : {0.0F, -1.0F, std::nanf("")}) {
      CHECK_THROWS_AS(warpalign::MagnitudePlan(device, {{8, 8, 1}, exponent}), warpalign::Error);
    }
  });
}

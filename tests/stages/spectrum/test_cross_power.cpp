// The normalised cross-power spectrum against the oracle, on every device.
#include "reference/spectrum/cross_power.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

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
  // Complex numbers of length 1: the product of two normalised factors and a weight, each right to
  // a few ulp (6e-8).
  CHECK(test::max_difference(test::spectrum_from_device(stream, output, 0),
                             reference::cross_power(a, b, size.width, s, false)) <= 2e-6);
  if (with_rotated_180) {
    CHECK(test::max_difference(test::spectrum_from_device(stream, output, 1),
                               reference::cross_power(a, b, size.width, s, true)) <= 2e-6);
  }
}

// A stack of the spectra.
warpalign::Image stack_of(const warpalign::Device& device, warpalign::Stream& stream,
                          test::Size size, const std::vector<reference::Spectrum>& spectra) {
  std::vector<std::complex<float>> values;
  for (const reference::Spectrum& spectrum : spectra) {
    for (const std::complex<double>& value : spectrum.values) {
      values.emplace_back(static_cast<float>(value.real()), static_cast<float>(value.imag()));
    }
  }
  warpalign::Device on = device;
  warpalign::Image stack =
      on.make_image(warpalign::PixelType::c32,
                    {size.width / 2 + 1, size.height, static_cast<std::int64_t>(spectra.size())});
  stream.upload(values.data(), values.size() * sizeof values[0], stack.buffer());
  return stack;
}

void compare_stacks(const warpalign::Device& device, test::Size size, std::size_t first_images,
                    std::size_t second_images) {
  CAPTURE(test::to_string(size));
  CAPTURE(first_images);
  CAPTURE(second_images);
  constexpr float sigma = 0.3F;
  std::vector<reference::Spectrum> first, second;
  for (std::uint32_t i = 0; i < first_images; ++i) {
    first.push_back(test::random_spectrum(size.width, size.height, 30 + i));
  }
  for (std::uint32_t i = 0; i < second_images; ++i) {
    second.push_back(test::random_spectrum(size.width, size.height, 40 + i));
  }
  const std::size_t images = std::max(first_images, second_images);
  auto stream = device.make_stream();
  warpalign::Device on = device;
  auto output = on.make_image(warpalign::PixelType::c32,
                              {size.width / 2 + 1, size.height, static_cast<std::int64_t>(images)});
  test::poison(stream, output);
  CrossPowerPlan(device, {{size.width, size.height, 1},
                          sigma,
                          false,
                          static_cast<std::int64_t>(first_images),
                          static_cast<std::int64_t>(second_images)})
      .execute(stream, stack_of(device, stream, size, first),
               stack_of(device, stream, size, second), output);
  for (std::size_t i = 0; i < images; ++i) {
    CAPTURE(i);
    const auto expected = reference::cross_power(first[i % first_images], second[i % second_images],
                                                 size.width, static_cast<double>(sigma), false);
    // The tolerance of a single pair.
    CHECK(test::max_difference(
              test::spectrum_from_device(stream, output, static_cast<std::int64_t>(i)), expected) <=
          2e-6);
  }
}

}  // namespace

TEST_CASE("cross_power: stacks of images, and one image with each of a stack") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{32, 32}, {45, 31}, {260, 12}}) {
      compare_stacks(device, size, 3, 3);
      compare_stacks(device, size, 1, 4);
      compare_stacks(device, size, 4, 1);
    }
  });
}

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

TEST_CASE("cross_power: zero, tiny and huge coefficients give length 1 or zero") {
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

TEST_CASE("cross_power: stacks that do not match, or unsupported combinations, are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto refused = [&](const CrossPowerSpec& spec) {
      CHECK_THROWS_AS(CrossPowerPlan(device, spec), warpalign::Error);
    };
    refused({{8, 8, 1}, 0, false, 2, 3});
    refused({{8, 8, 1}, 0, false, 0, 1});
    refused({{8, 8, 1}, 0, true, 2, 2});
    refused({{8, 8, 8}, 0, false, 2, 2});
  });
}

// The cross-power spectrum of volumes against the oracle, on every device.
#include "reference/spectrum/cross_power.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/error.hpp>
#include <warpalign/stages/fft.hpp>

namespace {

using warpalign::CrossPowerPlan;
using warpalign::PixelType;
using warpalign::RealFftPlan;
using warpalign::Shape;

}  // namespace

TEST_CASE("cross_power of volumes: weighted or not") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Shape& shape : {Shape{7, 5, 3}, Shape{64, 6, 9}, Shape{33, 17, 2}}) {
      const Shape half = RealFftPlan::half_spectrum(shape);
      const auto a = test::random_complex_volume(half, 32);
      const auto b = test::random_complex_volume(half, 33);
      for (const float sigma : {0.0F, 0.3F}) {
        CAPTURE(to_string(shape));
        CAPTURE(sigma);
        auto stream = device.make_stream();
        const auto da = test::to_device(device, stream, a);
        const auto db = test::to_device(device, stream, b);
        auto output = device.make_image(PixelType::c32, half);
        test::poison(stream, output);
        CrossPowerPlan(device, {shape, sigma, false}).execute(stream, da, db, output);
        const auto expected = reference::cross_power(a, b, shape.width, static_cast<double>(sigma));
        // Complex numbers of length 1: the product of two normalised factors and a weight, each
        // right to a few ulp (6e-8).
        CHECK(test::max_difference(test::complex_volume_from_device(stream, output), expected) <=
              2e-6);
      }
    }
  });
}

TEST_CASE(
    "cross_power of volumes: rotations by 180 degrees are refused, the total weight counts all "
    "axes") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(CrossPowerPlan(device, {{8, 8, 8}, 0.0F, true}), warpalign::Error);
  });
  CHECK(CrossPowerPlan::total_weight({{12, 7, 5}, 0.0F, false}) == doctest::Approx(420));
}

// Sums of the power of two spectra against the oracle, on every device.
#include "reference/fft/fft.hpp"
#include "reference/volume/spectrum_sums.hpp"
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>

namespace {

using warpalign::RealFftPlan;
using warpalign::Shape;
using warpalign::SpectrumSumsPlan;

}  // namespace

TEST_CASE("spectrum_sums: even and odd widths") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Shape& shape :
         {Shape{16, 12, 10}, Shape{15, 7, 9}, Shape{130, 3, 5}, Shape{2, 1, 1}, Shape{9, 9, 1}}) {
      CAPTURE(to_string(shape));
      auto stream = device.make_stream();
      // Spectra of real volumes, so that the whole one follows from the half; rounded to floats.
      const auto a = test::as_floats(reference::forward(test::random_volume(shape, 1, 2, 34)));
      const auto b = test::as_floats(reference::forward(test::random_volume(shape, -1, 3, 35)));
      const auto da = test::to_device(device, stream, a);
      const auto db = test::to_device(device, stream, b);
      const auto found = SpectrumSumsPlan(device, {shape}).execute(stream, da, db);
      const auto expected = reference::power_sums(a, b, shape.width);
      // Positive terms of three roundings each; work items add up some tens of them.
      CHECK(found.a == doctest::Approx(expected.a).epsilon(2e-6));
      CHECK(found.b == doctest::Approx(expected.b).epsilon(2e-6));
      CHECK(found.product == doctest::Approx(expected.product).epsilon(2e-6));
    }
  });
}

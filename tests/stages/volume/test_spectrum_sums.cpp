// Sums of the power of two spectra against the oracle, on every device.
#include "reference/fft/fft.hpp"
#include "reference/volume/spectrum_sums.hpp"
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/spectrum_sums.hpp>
#include <warpalign/error.hpp>
#include <warpalign/stages/fft.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

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
      // Spectra of real volumes, so that one half determines the other; rounded to floats.
      const auto a = test::as_floats(reference::forward(test::random_volume(shape, 1, 2, 34)));
      const auto b = test::as_floats(reference::forward(test::random_volume(shape, -1, 3, 35)));
      const auto da = test::to_device(device, stream, a);
      const auto db = test::to_device(device, stream, b);
      const auto found = SpectrumSumsPlan(device, {shape}).execute(stream, da, db);
      const auto expected = reference::power_sums(a, b, shape.width);
      // Positive terms with three roundings each; work items add up some tens of them.
      CHECK(found.a == doctest::Approx(expected.a).epsilon(2e-6));
      CHECK(found.b == doctest::Approx(expected.b).epsilon(2e-6));
      CHECK(found.product == doctest::Approx(expected.product).epsilon(2e-6));
    }
  });
}

TEST_CASE("spectrum_sums: several pairs at once are bit-identical to single pairs") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Shape& shape : {Shape{16, 12, 1}, Shape{15, 7, 2}}) {
      CAPTURE(to_string(shape));
      auto stream = device.make_stream();
      const Shape stacked{shape.width, shape.height, 3 * shape.depth};
      const auto spectra_of = [&](std::uint32_t seed) {
        reference::ComplexVolume all(shape.width / 2 + 1, shape.height, stacked.depth);
        std::vector<reference::ComplexVolume> each;
        auto next = all.values.begin();
        for (std::uint32_t i = 0; i < 3; ++i) {
          each.push_back(
              test::as_floats(reference::forward(test::random_volume(shape, 1, 2, seed + i))));
          next = std::copy(each.back().values.begin(), each.back().values.end(), next);
        }
        each.push_back(all);
        return each;
      };
      const auto a = spectra_of(40);
      const auto b = spectra_of(50);
      const auto on_device = [&](const reference::ComplexVolume& spectrum) {
        return test::to_device(device, stream, spectrum);
      };
      const SpectrumSumsPlan plan(device, {shape, 6, 3});
      plan.enqueue(stream, on_device(a[3]), on_device(b[3]), 3);
      plan.enqueue(stream, on_device(b[3]), on_device(a[3]), 0);
      plan.enqueue_copy(stream);
      const auto check = [&](std::int64_t result, const reference::ComplexVolume& first,
                             const reference::ComplexVolume& second) {
        CAPTURE(result);
        const auto alone =
            SpectrumSumsPlan(device, {shape}).execute(stream, on_device(first), on_device(second));
        const auto found = plan.wait(result);
        CHECK(found.a == alone.a);
        CHECK(found.b == alone.b);
        CHECK(found.product == alone.product);
      };
      for (std::size_t i = 0; i < 3; ++i) {
        check(static_cast<std::int64_t>(i), b[i], a[i]);
        check(static_cast<std::int64_t>(i) + 3, a[i], b[i]);
      }
      CHECK_THROWS_AS(plan.enqueue(stream, on_device(a[3]), on_device(b[3]), 4), warpalign::Error);
      CHECK_THROWS_AS(plan.enqueue(stream, on_device(a[0]), on_device(b[0]), 0), warpalign::Error);
      CHECK_THROWS_AS(SpectrumSumsPlan(device, {shape, 2, 3}), warpalign::Error);
      CHECK_THROWS_AS(SpectrumSumsPlan(device, {shape, 2, 0}), warpalign::Error);
    }
  });
}

TEST_CASE("spectrum_sums: several results in one copy are bit-identical to single ones") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{16, 12, 10};
    auto stream = device.make_stream();
    const auto spectrum = [&](std::uint32_t seed) {
      return test::to_device(
          device, stream,
          test::as_floats(reference::forward(test::random_volume(shape, 1, 2, seed))));
    };
    const auto a = spectrum(36);
    const auto b = spectrum(37);
    const SpectrumSumsPlan plan(device, {shape, 2});
    plan.enqueue(stream, b, b, 1);
    plan.enqueue(stream, a, b, 0);
    plan.enqueue_copy(stream);
    const auto check = [&](std::int64_t result, const warpalign::SpectrumSums& alone) {
      CHECK(plan.wait(result).a == alone.a);
      CHECK(plan.wait(result).b == alone.b);
      CHECK(plan.wait(result).product == alone.product);
    };
    check(0, SpectrumSumsPlan(device, {shape}).execute(stream, a, b));
    check(1, SpectrumSumsPlan(device, {shape}).execute(stream, b, b));
    CHECK_THROWS_AS(plan.enqueue(stream, a, b, 2), warpalign::Error);
    CHECK_THROWS_AS(plan.enqueue(stream, a, b, -1), warpalign::Error);
    CHECK_THROWS_AS(static_cast<void>(plan.wait(2)), warpalign::Error);
    CHECK_THROWS_AS(SpectrumSumsPlan(device, {shape, 0}), warpalign::Error);
  });
}

// Smoothed volumes, whose ignored voxels are NaN, against the oracle, on every device.
#include "reference/volume/smooth_volume.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/smooth_volume.hpp>
#include <warpalign/error.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <algorithm>
#include <cmath>

namespace {

using reference::Volume;
using warpalign::Device;
using warpalign::Error;
using warpalign::PixelType;
using warpalign::Shape;
using warpalign::SmoothVolumePlan;

Volume computed(const Device& device, const Volume& volume) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, volume);
  auto smoothed = device.make_image(PixelType::f32, input.shape());
  test::poison(stream, smoothed);
  SmoothVolumePlan(device, {input.shape()}).execute(stream, input, smoothed);
  return test::volume_from_device(stream, smoothed);
}

}  // namespace

TEST_CASE("smooth_volume: agrees with the oracle") {
  test::on_every_device([](const Device& device) {
    for (const Shape& shape : {Shape{37, 10, 9}, Shape{8, 9, 33}, Shape{1, 2, 3}, Shape{70, 1, 1},
                               Shape{1, 1, 1}, Shape{2, 2, 2}}) {
      CAPTURE(to_string(shape));
      for (const double part : {0.0, 0.02}) {
        const Volume volume = test::with_marks(test::random_volume(shape, -1, 1, 51), part, 52);
        // Values are up to 1: three weighted sums of three, each rounded three times.
        CHECK(test::max_marked_difference(computed(device, volume),
                                          reference::smoothed_by_spline(volume)) <= 6e-7);
      }
    }
  });
}

TEST_CASE("smooth_volume: an ignored voxel removes its 26 neighbours and no more") {
  test::on_every_device([](const Device& device) {
    Volume volume(9, 8, 7);
    volume.at(4, 5, 3) = NAN;
    const Volume found = computed(device, volume);
    CHECK(std::count_if(found.values.begin(), found.values.end(),
                        [](double value) { return std::isnan(value); }) == 27);
    CHECK(std::isnan(found.at(3, 4, 2)));
    CHECK(std::isnan(found.at(5, 6, 4)));
  });
}

TEST_CASE("smooth_volume: without NaN, the same as interpolate") {
  test::on_every_device([](const Device& device) {
    const Shape shape{20, 13, 9};
    const Volume volume = test::random_volume(shape, -1, 1, 53);
    warpalign::InterpolateSpec spec;
    spec.images.shape = spec.output = shape;
    spec.images.dimensions = 3;
    spec.spline.prefilter = std::nullopt;
    auto stream = device.make_stream();
    const auto input = test::to_device(device, stream, volume);
    auto smoothed = device.make_image(PixelType::f32, shape);
    warpalign::InterpolatePlan(device, spec)
        .execute(stream, input, warpalign::HomogeneousMatrix{}, smoothed);
    // As above, for both results.
    CHECK(test::max_difference(computed(device, volume),
                               test::volume_from_device(stream, smoothed)) <= 1.2e-6);
  });
}

TEST_CASE("smooth_volume: invalid arguments are refused") {
  test::on_every_device([](const Device& device) {
    CHECK_THROWS_AS(SmoothVolumePlan(device, {{0, 8, 8}}), Error);
    const SmoothVolumePlan plan(device, {{8, 8, 8}});
    auto stream = device.make_stream();
    auto volume = device.make_image(PixelType::f32, {8, 8, 8});
    auto small = device.make_image(PixelType::f32, {8, 8, 7});
    CHECK_THROWS_AS(plan.execute(stream, volume, volume), Error);
    CHECK_THROWS_AS(plan.execute(stream, volume, small), Error);
  });
}

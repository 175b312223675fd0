// Halved volumes, whose ignored voxels are NaN, against the oracle, on every device.
#include "reference/volume/halve_volume.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/halve_volume.hpp>
#include <warpalign/error.hpp>

#include <cmath>

namespace {

using reference::Volume;
using warpalign::Device;
using warpalign::Error;
using warpalign::HalveVolumePlan;
using warpalign::HalveVolumeSpec;
using warpalign::PixelType;

Volume computed(const Device& device, const Volume& volume, const HalveVolumeSpec& spec) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, volume);
  auto halved = device.make_image(PixelType::f32, spec.output());
  test::poison(stream, halved);
  HalveVolumePlan(device, spec).execute(stream, input, halved);
  return test::volume_from_device(stream, halved);
}

void compare(const Device& device, const HalveVolumeSpec& spec) {
  CAPTURE(to_string(spec.shape));
  const auto factor = [&](std::size_t axis) { return std::int64_t{spec.halved[axis] ? 2 : 1}; };
  for (const double part : {0.0, 0.1, 0.5}) {
    const Volume volume = test::with_marks(test::random_volume(spec.shape, -1, 1, 54), part, 55);
    // Sums of up to eight numbers of at most 1, divided by their number.
    CHECK(test::max_marked_difference(
              computed(device, volume, spec),
              reference::means_of_boxes(volume, {factor(0), factor(1), factor(2)})) <= 5e-7);
  }
}

}  // namespace

TEST_CASE("halve_volume: agrees with the oracle along any axes, even with odd sides") {
  test::on_every_device([](const Device& device) {
    compare(device, {{37, 10, 9}, {true, true, true}});
    compare(device, {{20, 13, 9}, {true, false, false}});
    compare(device, {{20, 13, 9}, {false, true, true}});
    compare(device, {{150, 2, 3}, {true, false, true}});
    compare(device, {{9, 9, 9}, {false, false, false}});
  });
}

TEST_CASE("halve_volume: the mean of the voxels that count, if at least half do") {
  test::on_every_device([](const Device& device) {
    Volume volume(4, 2, 2);
    for (std::size_t i = 0; i < 16; ++i) volume.values[i] = static_cast<double>(i);
    // Four of the first eight voxels are left, and three of the other eight.
    for (const std::size_t i : {0, 1, 4, 5, 2, 3, 6, 7, 10}) volume.values[i] = NAN;
    const Volume found = computed(device, volume, {{4, 2, 2}, {true, true, true}});
    CHECK(found.at(0, 0, 0) == (8 + 9 + 12 + 13) / 4.0);
    CHECK(std::isnan(found.at(1, 0, 0)));
  });
}

TEST_CASE("halve_volume: invalid arguments are refused") {
  test::on_every_device([](const Device& device) {
    CHECK_THROWS_AS(HalveVolumePlan(device, {{0, 8, 8}, {true, true, true}}), Error);
    CHECK_THROWS_AS(HalveVolumePlan(device, {{8, 8, 1}, {true, true, true}}), Error);
    const HalveVolumePlan plan(device, {{8, 8, 8}, {true, true, false}});
    auto stream = device.make_stream();
    const auto volume = device.make_image(PixelType::f32, {8, 8, 8});
    auto wrong = device.make_image(PixelType::f32, {4, 4, 4});
    CHECK_THROWS_AS(plan.execute(stream, volume, wrong), Error);
  });
}

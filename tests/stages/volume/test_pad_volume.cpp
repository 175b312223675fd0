// Volumes in padded frames against the oracle, on every device.
#include "reference/volume/pad_volume.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/pad_volume.hpp>
#include <warpalign/error.hpp>

namespace {

using warpalign::PadVolumePlan;
using warpalign::PadVolumeSpec;
using warpalign::PixelType;
using warpalign::Shape;

void compare(const warpalign::Device& device, const PadVolumeSpec& spec) {
  CAPTURE(name_of(spec.input_type));
  CAPTURE(to_string(spec.input));
  CAPTURE(to_string(spec.padded));
  CAPTURE(spec.taper);
  auto stream = device.make_stream();
  const auto volume = test::random_samples(spec.input, spec.input_type, 36);
  const auto input = test::to_device(device, stream, volume, spec.input_type);
  auto padded = device.make_image(PixelType::f32, spec.padded);
  test::poison(stream, padded);
  const double offset = 0.25;
  const double scale = 1 / test::largest(volume);
  PadVolumePlan(device, spec)
      .execute(stream, input, {static_cast<float>(offset), static_cast<float>(scale)}, padded);
  const auto expected =
      reference::placed(volume, {spec.padded.width, spec.padded.height, spec.padded.depth}, offset,
                        static_cast<double>(static_cast<float>(scale)), spec.taper);
  // Values are up to 1: a difference, three weights and their products, each rounded once or
  // twice.
  CHECK(test::max_difference(test::volume_from_device(stream, padded), expected) <= 1e-6);
}

}  // namespace

TEST_CASE("pad_volume: every type, with and without a taper and a margin") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
      compare(device, {type, {37, 10, 9}, {37, 10, 9}, 0});
      compare(device, {type, {37, 10, 9}, {40, 12, 10}, 0.25});
    }
    compare(device, {PixelType::f32, {8, 9, 33}, {70, 9, 35}, 0.5});
    compare(device, {PixelType::f32, {1, 2, 3}, {1, 2, 3}, 0.5});
  });
}

TEST_CASE("pad_volume: NaN becomes 0 if it marks voxels, and stays NaN otherwise") {
  test::on_every_device([](const warpalign::Device& device) {
    const Shape shape{17, 10, 9};
    const auto volume = test::with_marks(test::random_volume(shape, -1, 1, 37), 0.1, 38);
    auto stream = device.make_stream();
    const auto input = test::to_device(device, stream, volume);
    for (const bool marked : {false, true}) {
      auto padded = device.make_image(PixelType::f32, {20, 12, 10});
      test::poison(stream, padded);
      PadVolumePlan(device, {PixelType::f32, shape, padded.shape(), 0.25, marked})
          .execute(stream, input, {0.25F, 0.5F}, padded);
      // As above.
      CHECK(test::max_marked_difference(
                test::volume_from_device(stream, padded),
                reference::placed(volume, {20, 12, 10}, 0.25, 0.5, 0.25, marked)) <= 1e-6);
    }
  });
}

TEST_CASE("pad_volume: invalid arguments are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    using warpalign::Error;
    CHECK_THROWS_AS(PadVolumePlan(device, {PixelType::f32, {8, 8, 8}, {8, 8, 7}, 0}), Error);
    CHECK_THROWS_AS(PadVolumePlan(device, {PixelType::c32, {8, 8, 8}, {8, 8, 8}, 0}), Error);
    CHECK_THROWS_AS(PadVolumePlan(device, {PixelType::f32, {8, 8, 8}, {8, 8, 8}, 0.6}), Error);
    CHECK_THROWS_AS(PadVolumePlan(device, {PixelType::u8, {8, 8, 8}, {8, 8, 8}, 0, true}), Error);
  });
}

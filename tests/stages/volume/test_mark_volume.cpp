// Masks that are converted to NaN in volumes, on every device.
#include "reference/volume/marked_volume.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/volume/mark_volume.hpp>
#include <warpalign/error.hpp>

#include <cmath>

namespace {

using warpalign::Device;
using warpalign::Error;
using warpalign::MarkVolumePlan;
using warpalign::PixelType;
using warpalign::Shape;

/// 0, 1 or 255.
reference::Volume some_mask(const Shape& shape) {
  reference::Volume mask = test::random_volume(shape, 0, 3, 5);
  for (double& value : mask.values) value = value < 1 ? 0 : value < 2 ? 1 : 255;
  return mask;
}

void compare(const Device& device, PixelType type, const Shape& shape) {
  CAPTURE(name_of(type));
  CAPTURE(to_string(shape));
  const auto volume = test::random_samples(shape, type, 6);
  const auto mask = some_mask(shape);
  auto stream = device.make_stream();
  const auto voxels = test::to_device(device, stream, volume, type);
  const auto marks = test::to_device(device, stream, mask, PixelType::u8);
  auto marked = device.make_image(PixelType::f32, shape);
  test::poison(stream, marked);
  MarkVolumePlan(device, {type, shape}).execute(stream, voxels, marks, marked);
  CHECK(test::max_marked_difference(test::volume_from_device(stream, marked),
                                    reference::marked(volume, mask)) == 0);
}

}  // namespace

TEST_CASE("mark_volume: every type; NaN where the mask is 0, and the voxels elsewhere") {
  test::on_every_device([](const Device& device) {
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
      compare(device, type, {37, 10, 9});
      compare(device, type, {1, 1, 1});
      compare(device, type, {64, 16, 4});
    }
  });
}

TEST_CASE("mark_volume: one NaN for all values under the mask, and for infinities elsewhere") {
  test::on_every_device([](const Device& device) {
    const Shape shape{4, 2, 1};
    auto stream = device.make_stream();
    const std::vector<float> voxels{NAN, -NAN, INFINITY, 2, INFINITY, -INFINITY, NAN, -0.0F};
    const std::vector<std::uint8_t> mask{0, 0, 0, 0, 1, 255, 1, 255};
    auto input = device.make_image(PixelType::f32, shape);
    auto marks = device.make_image(PixelType::u8, shape);
    auto marked = device.make_image(PixelType::f32, shape);
    stream.upload(voxels.data(), input.size_bytes(), input.buffer());
    stream.upload(mask.data(), marks.size_bytes(), marks.buffer());
    MarkVolumePlan(device, {PixelType::f32, shape}).execute(stream, input, marks, marked);
    std::vector<std::uint32_t> bits(8);
    stream.download(marked, bits.data(), marked.size_bytes());
    for (std::size_t i = 0; i < 6; ++i) CHECK(bits[i] == 0x7FC00000);
    CHECK(bits[7] == 0x80000000);
  });
}

TEST_CASE("mark_volume: invalid arguments are refused") {
  test::on_every_device([](const Device& device) {
    CHECK_THROWS_AS(MarkVolumePlan(device, {PixelType::f32, {0, 8, 8}}), Error);
    CHECK_THROWS_AS(MarkVolumePlan(device, {PixelType::i16, {8, 8, 8}}), Error);
    const Shape shape{8, 8, 8};
    const MarkVolumePlan plan(device, {PixelType::f32, shape});
    auto stream = device.make_stream();
    auto voxels = device.make_image(PixelType::f32, shape);
    const auto mask = device.make_image(PixelType::u8, shape);
    auto marked = device.make_image(PixelType::f32, shape);
    CHECK_THROWS_AS(plan.execute(stream, voxels, mask, voxels), Error);
    CHECK_THROWS_AS(plan.execute(stream, voxels, voxels, marked), Error);
    const auto small = device.make_image(PixelType::u8, {8, 8, 7});
    CHECK_THROWS_AS(plan.execute(stream, voxels, small, marked), Error);
  });
}

// Where a transform leads the voxels of a volume.
#include "registration/volume/series/voxel_places.hpp"

#include <warpalign/device_transform.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace warpalign::detail {
namespace {

constexpr std::int64_t axes = 3;

Shape of_all_axes(const Shape& shape) { return {shape.width, shape.height, axes * shape.depth}; }

}  // namespace

VoxelPlaces::VoxelPlaces(const Device& device, const Shape& shape)
    : device_(device),
      coordinates_(device_.make_image(PixelType::f32, of_all_axes(shape))),
      values_(static_cast<std::size_t>(axes * shape.pixels())) {
  grid_.shape = shape;
}

void VoxelPlaces::compute(Stream& stream, const Transform& transform) {
  if (DeviceTransform::is_supported(device_, transform)) {
    compute_on_device(stream, transform);
  } else {
    compute_on_host(transform);
  }
  stream.upload(values_.data(), coordinates_.size_bytes(), coordinates_.buffer());
}

void VoxelPlaces::compute_on_device(Stream& stream, const Transform& transform) {
  Image exact = device_.make_image(PixelType::f64, of_all_axes(grid_.shape));
  const DeviceTransform on_device(device_, transform);
  on_device.positions(stream, grid_, exact);
  std::vector<double> places(values_.size());
  stream.download(exact, places.data(), exact.size_bytes());
  std::ranges::transform(places, values_.begin(),
                         [](double place) { return static_cast<float>(place); });
}

void VoxelPlaces::compute_on_host(const Transform& transform) {
  const std::size_t voxels = values_.size() / axes;
  const std::array<float*, axes> components{values_.data(), values_.data() + voxels,
                                            values_.data() + 2 * voxels};
  transform.positions(grid_, components);
}

}  // namespace warpalign::detail

// Warps the volumes of a series on the device.
#include "registration/volume/series/volume_warper.hpp"

#include "registration/volume/series/series_model.hpp"

#include <cstddef>
#include <cstring>

namespace warpalign::detail {
namespace {

// Values beyond the volume that results keep, in voxels: what a rounded motion moves out of it.
constexpr double kept_beyond = 1;

PrefilterSpec prefilter_spec(PixelType type, const Shape& shape) {
  PrefilterSpec spec;
  spec.images = {shape, 3};
  spec.input = type;
  return spec;
}

InterpolateSpec interpolate_spec(PixelType type, const Shape& shape) {
  InterpolateSpec spec;
  spec.images = {shape, 3};
  spec.output = shape;
  spec.output_type = type;
  return spec;
}

/// Whether a place is at most kept_beyond outside of samples 0 to `side` - 1; not if it is NaN.
bool is_kept(float place, std::int64_t side) {
  const auto at = static_cast<double>(place);
  return at >= -kept_beyond && at <= static_cast<double>(side - 1) + kept_beyond;
}

}  // namespace

VolumeWarper::Typed::Typed(const Device& device, PixelType pixel, const Shape& shape)
    : type(pixel),
      samples(Device(device).make_image(pixel, shape)),
      warped(Device(device).make_image(pixel, shape)),
      prefilter(device, prefilter_spec(pixel, shape)),
      interpolate(device, interpolate_spec(pixel, shape)) {}

VolumeWarper::VolumeWarper(const Device& device, Stream& stream, const Shape& shape)
    : device_(device),
      stream_(stream),
      shape_(shape),
      coefficients_(device_.make_image(PixelType::f32, shape)),
      warped_(device_.make_image(PixelType::f32, shape)),
      to_floats_(device, interpolate_spec(PixelType::f32, shape)),
      values_(static_cast<std::size_t>(shape.pixels())) {}

VolumeWarper::Typed& VolumeWarper::plans_for(PixelType type) {
  if (!typed_ || typed_->type != type) {
    typed_.reset();  // release the old memory before allocating the new
    typed_.emplace(device_, type, shape_);
  }
  return *typed_;
}

void VolumeWarper::load(const HostVolume& volume) {
  Typed& typed = plans_for(volume.type);
  missing_ = MissingVoxels::of(volume);
  const void* samples = missing_ ? missing_->filled().data() : volume.data;
  stream_.upload(samples, typed.samples.size_bytes(), typed.samples.buffer());
  typed.prefilter.execute(stream_, typed.samples, coefficients_);
}

const Image& VolumeWarper::values_on_device() {
  to_floats_.execute(stream_, coefficients_, HomogeneousMatrix{}, warped_);
  return warped_;
}

const std::vector<float>& VolumeWarper::values_at(const HomogeneousMatrix& transform) {
  to_floats_.execute(stream_, coefficients_, transform, warped_);
  stream_.download(warped_, values_.data(), warped_.size_bytes());
  return values_;
}

void VolumeWarper::write(const SpatialTransform& transform, const VolumeGrid& grid, void* aligned) {
  const auto matrix = HomogeneousMatrix::affine3(voxel_rows(transform, grid, grid));
  typed_->interpolate.execute(stream_, coefficients_, matrix, typed_->warped);
  stream_.download(typed_->warped, aligned, typed_->warped.size_bytes());
  if (missing_) missing_->set_missing(matrix, typed_->type, aligned);
  clear_beyond(transform, grid, aligned);
}

void VolumeWarper::write(const Transform& transform, void* aligned) {
  if (!places_) places_.emplace(device_, shape_);
  places_->compute(stream_, transform);
  typed_->interpolate.execute(stream_, coefficients_, places_->coordinates(), typed_->warped);
  stream_.download(typed_->warped, aligned, typed_->warped.size_bytes());
  if (missing_) missing_->set_missing(*places_, typed_->type, aligned);
  clear_beyond(*places_, aligned);
}

void VolumeWarper::clear_beyond(const SpatialTransform& transform, const VolumeGrid& grid,
                                void* aligned) const {
  const std::size_t size = size_of(typed_->type);
  const CentredRows rows = centred_rows(transform, grid, grid);
  auto* row = static_cast<std::byte*>(aligned);
  const auto row_bytes = static_cast<std::size_t>(shape_.width) * size;
  for (std::int64_t z = 0; z < shape_.depth; ++z) {
    for (std::int64_t y = 0; y < shape_.height; ++y, row += row_bytes) {
      const RowRange kept = range_inside(rows, grid, y, z, kept_beyond);
      std::memset(row, 0, static_cast<std::size_t>(kept.first) * size);
      std::memset(row + static_cast<std::size_t>(kept.end) * size, 0,
                  row_bytes - static_cast<std::size_t>(kept.end) * size);
    }
  }
}

void VolumeWarper::clear_beyond(const VoxelPlaces& places, void* aligned) const {
  const std::size_t size = size_of(typed_->type);
  auto* voxel = static_cast<std::byte*>(aligned);
  for (std::size_t i = 0; i < places.x().size(); ++i, voxel += size) {
    if (is_kept(places.x()[i], shape_.width) && is_kept(places.y()[i], shape_.height) &&
        is_kept(places.z()[i], shape_.depth)) {
      continue;
    }
    std::memset(voxel, 0, size);
  }
}

}  // namespace warpalign::detail

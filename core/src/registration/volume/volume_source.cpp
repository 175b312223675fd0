// Converts voxels to values that are ready for a registration.
#include "registration/volume/volume_source.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace warpalign::detail {

namespace {

// Bounds of the ranges that can be subtracted and divided by in single precision.
constexpr double max_range = 1e37;
constexpr double min_range = 1e-30;
// Fraction of the largest value; below it, differences are due to rounding.
constexpr double min_variation = 1e-6;

[[noreturn]] void refuse_voxels(const char* what, const std::string& why) {
  throw Error(ErrorKind::invalid_image, std::string(what) + " " + why);
}

VolumeLevels levels_of(const StatisticsRecord& record, const char* what) {
  if (record.nonfinite != 0) {
    refuse_voxels(what, "holds NaN or infinities at " + std::to_string(record.nonfinite) +
                            " voxels; replace them with ordinary numbers first");
  }
  const auto minimum = static_cast<double>(record.minimum);
  const auto maximum = static_cast<double>(record.maximum);
  const double range = maximum - minimum;
  if (range > max_range) refuse_voxels(what, "spans more than 1e37; scale its values down");
  if (!(range > min_range) ||
      range <= min_variation * std::max(std::abs(minimum), std::abs(maximum))) {
    refuse_voxels(what, "is constant: there is nothing in it to register");
  }
  return {record.mean, static_cast<float>(1 / range)};
}

InterpolateSpec smoothing(const Shape& shape) {
  InterpolateSpec spec;
  spec.image = spec.output = shape;
  spec.dimensions = 3;
  spec.prefiltered = false;
  return spec;
}

}  // namespace

VolumeSource::VolumeSource(const Device& device, PixelType type, const Shape& shape)
    : device_(device),
      type_(type),
      shape_(shape),
      statistics_(device, {shape, type}),
      normalize_(device, {type, shape, shape, 0}),
      smooth_(device, smoothing(shape)),
      values_(device.make_image(PixelType::f32, shape)),
      smoothed_(device.make_image(PixelType::f32, shape)),
      record_(device.make_buffer(sizeof(StatisticsRecord))) {}

void VolumeSource::take(Stream& stream, StageClock& clock, const HostVolume& voxels,
                        const char* what) {
  if (!voxels_) voxels_ = device_.make_image(type_, shape_);
  clock.run("upload",
            [&] { stream.upload(voxels.data, voxels_->size_bytes(), voxels_->buffer()); });
  take(stream, clock, *voxels_, what);
}

void VolumeSource::take(Stream& stream, StageClock& clock, const Image& voxels, const char* what) {
  clock.run("statistics", [&] { statistics_.execute(stream, voxels, record_); });
  StatisticsRecord record;
  stream.download(record_, &record, sizeof record);
  const VolumeLevels levels = levels_of(record, what);
  clock.run("pad_volume", [&] { normalize_.execute(stream, voxels, levels, values_); });
  clock.run("smooth", [&] { smooth_.execute(stream, values_, Transform{}, smoothed_); });
}

}  // namespace warpalign::detail

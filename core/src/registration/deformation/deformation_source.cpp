// The intensities of an image that a deformation is fitted to.
#include "registration/deformation/deformation_source.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <string>

namespace warpalign::detail {

namespace {

constexpr float min_range = 1e-30F;

}  // namespace

void check_complete(const char* what, std::int64_t missing, const char* samples) {
  if (missing == 0) return;
  throw Error(ErrorKind::invalid_image,
              std::string(what) + " contains NaN or infinities at " + std::to_string(missing) +
                  " " + samples +
                  ", which the motion deformable does not support; replace them first");
}

DeformationSource::Plans::Plans(const Device& device, PixelType pixel, const Shape& size)
    : type(pixel),
      shape(size),
      statistics(device, {size, pixel}),
      normalize(device, {pixel, size, size, 0}),
      record(device.make_buffer(sizeof(StatisticsRecord))),
      values(device.make_image(PixelType::f32, size)) {}

void DeformationSource::prepare(PixelType type, const Shape& shape) {
  if (plans_ && plans_->type == type && plans_->shape == shape) return;
  plans_.reset();  // release the old memory before allocating the new
  plans_.emplace(device_, type, shape);
}

void DeformationSource::take(Stream& stream, StageClock& clock, const HostImage& pixels) {
  prepare(pixels.type, pixels.shape());
  if (!plans_->raw) plans_->raw = device_.make_image(pixels.type, pixels.shape());
  clock.run("upload", [&] { stream.upload(pixels, *plans_->raw); });
  take(stream, clock, *plans_->raw);
}

void DeformationSource::take(Stream& stream, StageClock& clock, const Image& pixels) {
  prepare(pixels.type(), pixels.shape());
  clock.run("statistics", [&] { plans_->statistics.execute(stream, pixels, plans_->record); });
  StatisticsRecord record;
  stream.download(plans_->record, &record, sizeof(record));
  const float range = std::max(record.maximum - record.minimum, min_range);
  clock.run("pad_volume", [&] {
    plans_->normalize.execute(stream, pixels, {record.mean, 1 / range}, plans_->values);
  });
}

}  // namespace warpalign::detail

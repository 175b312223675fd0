// The intensities of an image that a deformation is fitted to.
#include "registration/deformation/deformation_source.hpp"

#include <warpalign/missing.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace warpalign::detail {

namespace {

constexpr float min_range = 1e-30F;

template <class Sample>
std::vector<Sample> samples_of(Stream& stream, const Image& image) {
  std::vector<Sample> samples(image.size_bytes() / sizeof(Sample));
  stream.download(image, samples.data(), image.size_bytes());
  return samples;
}

template <class Sample>
std::vector<float> floats_of(Stream& stream, const Image& image) {
  const std::vector<Sample> samples = samples_of<Sample>(stream, image);
  return {samples.begin(), samples.end()};
}

std::vector<float> any_floats_of(Stream& stream, const Image& image) {
  if (image.type() == PixelType::u8) return floats_of<std::uint8_t>(stream, image);
  if (image.type() == PixelType::u16) return floats_of<std::uint16_t>(stream, image);
  return samples_of<float>(stream, image);
}

}  // namespace

DeformationSource::Plans::Plans(const Device& device, PixelType pixel, const Shape& size)
    : type(pixel),
      shape(size),
      statistics(device, {size, pixel}),
      normalize(device, {pixel, size, size, 0}),
      record(device.make_buffer(sizeof(StatisticsRecord))) {}

void DeformationSource::prepare_copy(PixelType type, const Shape& shape,
                                     std::optional<Image>& copy) const {
  if (copy && copy->type() == type && copy->shape() == shape) return;
  copy.reset();  // release the old memory before allocating the new
  copy = Device(device_).make_image(type, shape);
}

const Image& DeformationSource::on_device(Stream& stream, StageClock& clock,
                                          const HostImage& pixels,
                                          std::optional<Image>& copy) const {
  prepare_copy(pixels.type, pixels.shape(), copy);
  clock.run("upload", [&] { stream.upload(pixels, *copy); });
  return *copy;
}

const Image& DeformationSource::on_device(Stream& stream, StageClock& clock,
                                          const HostVolume& voxels,
                                          std::optional<Image>& copy) const {
  prepare_copy(voxels.type, voxels.shape, copy);
  clock.run("upload", [&] { stream.upload(voxels.data, copy->size_bytes(), copy->buffer()); });
  return *copy;
}

const Image& DeformationSource::on_device(Stream& /*stream*/, StageClock& /*clock*/,
                                          const Image& pixels, std::optional<Image>& /*copy*/) {
  return pixels;
}

void DeformationSource::prepare_values(const Shape& shape) {
  if (values_ && values_->shape() == shape) return;
  values_.reset();
  values_ = device_.make_image(PixelType::f32, shape);
}

void DeformationSource::take_complete(Stream& stream, StageClock& clock, const Image& pixels) {
  known_.clear();
  prepare_values(pixels.shape());
  if (!plans_ || plans_->type != pixels.type() || plans_->shape != pixels.shape()) {
    plans_.reset();
    plans_.emplace(device_, pixels.type(), pixels.shape());
  }
  clock.run("statistics", [&] { plans_->statistics.execute(stream, pixels, plans_->record); });
  StatisticsRecord record;
  stream.download(plans_->record, &record, sizeof(record));
  const float range = std::max(record.maximum - record.minimum, min_range);
  clock.run("pad_volume", [&] {
    plans_->normalize.execute(stream, pixels, {record.mean, 1 / range}, *values_);
  });
}

void DeformationSource::take_incomplete(Stream& stream, const Image& pixels, const Image* mask) {
  std::vector<float> values = any_floats_of(stream, pixels);
  if (mask != nullptr) {
    const auto marks = samples_of<std::uint8_t>(stream, *mask);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (marks[i] == 0) values[i] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  float least = std::numeric_limits<float>::max();
  float most = std::numeric_limits<float>::lowest();
  double sum = 0;
  double count = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
    sum += static_cast<double>(value);
    count += 1;
  }
  const auto mean = static_cast<float>(sum / std::max(count, 1.0));
  const float range = std::max(most - least, min_range);
  for (float& value : values) value = (value - mean) / range;
  fill(stream, values, pixels.shape());
}

void DeformationSource::take_values(Stream& stream, const Image& values) {
  std::vector<float> samples = samples_of<float>(stream, values);
  fill(stream, samples, values.shape());
}

void DeformationSource::fill(Stream& stream, std::vector<float>& values, const Shape& shape) {
  std::vector<std::uint8_t> marks(values.size());
  known_.assign(values.size(), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    marks[i] = std::isfinite(values[i]) ? 1 : 0;
    if (marks[i] == 0) known_[i] = 0;
  }
  fill_missing(std::span(values), marks, shape);
  prepare_values(shape);
  stream.upload(values.data(), values.size() * sizeof(float), values_->buffer());
  // The upload reads `values`, which the caller releases.
  stream.finish();
}

}  // namespace warpalign::detail

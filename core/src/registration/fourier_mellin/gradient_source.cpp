// The pixels of one image of a pair on the device, and the statistics of their gradient.
#include "registration/fourier_mellin/gradient_source.hpp"

#include "device/check.hpp"

#include <warpalign/error.hpp>

namespace warpalign::detail {

namespace {

constexpr std::int64_t min_side = 16;

}  // namespace

void check_registrable(const char* what, PixelType type, const Shape& shape) {
  constexpr const char* stage = "register";
  check_real(stage, what, type);
  const auto outside = [](std::int64_t side) { return side < min_side || side > max_side; };
  if (outside(shape.width) || outside(shape.height) || shape.depth != 1) {
    refuse(stage, std::string(what) + " is " + to_string(shape) + "; each side must be " +
                      std::to_string(min_side) + " to " + std::to_string(max_side) + " pixels");
  }
}

GradientSource::GradientSource(const Device& device, PixelType type, const Shape& shape)
    : device_(device),
      type_(type),
      shape_(shape),
      statistics_plan_(device, {shape, type, Signal::gradient}),
      statistics_(device.make_buffer(sizeof(StatisticsRecord))),
      statistics_readback_(device) {}

Image& GradientSource::own_pixels() {
  if (!pixels_) pixels_ = device_.make_image(type_, shape_);
  return *pixels_;
}

void GradientSource::copy(Stream& stream, StageClock& clock, const HostImage& pixels) {
  use(stream, clock, pixels);
}

// Enqueues the statistics first, because the driver takes longer to start a copy than a kernel.
void GradientSource::copy(Stream& stream, StageClock& clock, const Image& pixels) {
  enqueue_statistics(stream, clock, pixels);
  clock.run("copy", [&] { stream.copy(pixels.buffer(), own_pixels().buffer()); });
  statistics_readback_.enqueue(stream, statistics_);
}

const Image& GradientSource::use(Stream& stream, StageClock& clock, const HostImage& pixels) {
  clock.run("upload", [&] { stream.upload(pixels, own_pixels()); });
  return use(stream, clock, *pixels_);
}

const Image& GradientSource::use(Stream& stream, StageClock& clock, const Image& pixels) {
  enqueue_statistics(stream, clock, pixels);
  statistics_readback_.enqueue(stream, statistics_);
  return pixels;
}

void GradientSource::enqueue_statistics(Stream& stream, StageClock& clock, const Image& pixels) {
  clock.run("sobel_mean", [&] { statistics_plan_.execute(stream, pixels, statistics_); });
}

void GradientSource::require_usable(const char* what) {
  const StatisticsRecord record = statistics_readback_.wait().front();
  if (record.nonfinite != 0) {
    throw Error(ErrorKind::invalid_image,
                std::string(what) + " contains NaN, infinities or values too large to square near " +
                    std::to_string(record.nonfinite) + " pixels; replace them first");
  }
  if (record.maximum <= 0) {
    throw Error(ErrorKind::invalid_image,
                std::string(what) + " is constant: it has no contrast to register");
  }
}

}  // namespace warpalign::detail

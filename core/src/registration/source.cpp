// From pixels to a gradient image that is ready for the canvas: upload, Sobel, statistics.
#include "registration/source.hpp"

#include "check.hpp"

#include <warpalign/error.hpp>

namespace warpalign::detail {

namespace {

constexpr std::int64_t smallest_side = 16;

}  // namespace

void check_registrable(const char* what, PixelType type, const Shape& shape) {
  constexpr const char* stage = "register";
  if (type == PixelType::c32 || type == PixelType::f16) {
    refuse(stage, std::string(what) + " must be u8, u16 or f32, not " + name_of(type));
  }
  const auto outside = [](std::int64_t side) {
    return side < smallest_side || side > largest_side;
  };
  if (outside(shape.width) || outside(shape.height) || shape.depth != 1) {
    refuse(stage, std::string(what) + " is " + to_string(shape) + "; each side must be " +
                      std::to_string(smallest_side) + " to " + std::to_string(largest_side) +
                      " pixels");
  }
}

Source::Source(const Device& device, PixelType type, const Shape& shape)
    : device_(device),
      type_(type),
      shape_(shape),
      sobel_(device, {type, shape}),
      statistics_plan_(device, {shape}),
      gradient_(device.make_image(PixelType::f32, shape)),
      statistics_(device.make_buffer(sizeof(StatisticsRecord))) {}

void Source::take(Stream& stream, StageClock& clock, const HostImage& pixels) {
  if (!pixels_) pixels_ = device_.make_image(type_, shape_);
  clock.run("upload", [&] { stream.upload(pixels, *pixels_); });
  take(stream, clock, *pixels_);
}

void Source::take(Stream& stream, StageClock& clock, const Image& pixels) {
  clock.run("sobel", [&] { sobel_.execute(stream, pixels, gradient_); });
  clock.run("statistics", [&] { statistics_plan_.execute(stream, gradient_, statistics_); });
}

void Source::require_usable(Stream& stream, const char* what) const {
  StatisticsRecord record;
  stream.download(statistics_, &record, sizeof record);
  if (record.nonfinite != 0) {
    throw Error(ErrorKind::invalid_image,
                std::string(what) + " holds NaN, infinities or values too large to square near " +
                    std::to_string(record.nonfinite) +
                    " pixels; replace them with ordinary numbers first");
  }
  if (record.maximum <= 0) {
    throw Error(ErrorKind::invalid_image,
                std::string(what) + " is constant: there is nothing in it to register");
  }
}

}  // namespace warpalign::detail

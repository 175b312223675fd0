// Converts images and volumes of pixel types that the registration's kernels do not load.
#pragma once

#include "device/check.hpp"
#include "registration/resources/stage_clock.hpp"
#include "stages/converted.hpp"

#include <warpalign/device.hpp>

#include <optional>
#include <utility>

namespace warpalign::detail {

/// Converts pixels to f32. Reuses its memory for input of the same type and shape.
class ConvertedPixels {
 public:
  explicit ConvertedPixels(Device device) : device_(std::move(device)) {}

  const Image& convert(Stream& stream, StageClock& clock, const HostImage& pixels) {
    Image& raw = raw_of(pixels.type, pixels.shape());
    clock.run("upload", [&] { stream.upload(pixels, raw); });
    return convert(stream, clock, raw);
  }
  const Image& convert(Stream& stream, StageClock& clock, const HostVolume& voxels) {
    Image& raw = raw_of(voxels.type, voxels.shape);
    clock.run("upload", [&] { stream.upload(voxels.data, raw.size_bytes(), raw.buffer()); });
    return convert(stream, clock, raw);
  }
  const Image& convert(Stream& stream, StageClock& clock, const Image& pixels) {
    if (!input_ || type_ != pixels.type() || shape_ != pixels.shape()) {
      input_.reset();
      input_.emplace(device_, pixels.type(), pixels.shape());
      type_ = pixels.type();
      shape_ = pixels.shape();
    }
    const Image* converted = nullptr;
    clock.run("convert", [&] { converted = &input_->convert(stream, pixels); });
    return *converted;
  }

 private:
  Image& raw_of(PixelType type, const Shape& shape) {
    if (!raw_ || raw_->type() != type || raw_->shape() != shape) {
      raw_.reset();
      raw_.emplace(device_.make_image(type, shape));
    }
    return *raw_;
  }

  Device device_;
  PixelType type_ = PixelType::f32;
  Shape shape_;
  std::optional<Image> raw_;
  std::optional<ConvertedInput> input_;
};

}  // namespace warpalign::detail

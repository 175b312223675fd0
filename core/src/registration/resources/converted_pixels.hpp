// Converts images and volumes of pixel types that the registration's kernels do not load.
#pragma once

#include "device/check.hpp"
#include "registration/resources/pedestal.hpp"
#include "registration/resources/stage_clock.hpp"
#include "stages/converted.hpp"

#include <warpalign/device.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace warpalign::detail {

/// Converts pixels to f32. Reuses its memory for input of the same type and shape.
class ConvertedPixels {
 public:
  explicit ConvertedPixels(Device device) : device_(std::move(device)) {}

  /// Maps integers and doubles that single precision would round too much, or cannot hold.
  const Image& convert(Stream& stream, StageClock& clock, const HostImage& pixels) {
    if (const auto rescaling = rescaling_of(pixels)) {
      const std::vector<float> values = rescaled(pixels, *rescaling);
      Image& image = image_of(centred_, PixelType::f32, pixels.shape());
      clock.run("upload", [&] {
        stream.upload(values.data(), values.size() * sizeof(float), image.buffer());
      });
      return image;
    }
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
  Image& raw_of(PixelType type, const Shape& shape) { return image_of(raw_, type, shape); }
  Image& image_of(std::optional<Image>& kept, PixelType type, const Shape& shape) const {
    if (!kept || kept->type() != type || kept->shape() != shape) {
      kept.reset();
      kept.emplace(device_.make_image(type, shape));
    }
    return *kept;
  }

  Device device_;
  PixelType type_ = PixelType::f32;
  Shape shape_;
  std::optional<Image> raw_, centred_;
  std::optional<ConvertedInput> input_;
};

}  // namespace warpalign::detail

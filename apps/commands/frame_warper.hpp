// Resamples images of one size onto the grid of another image.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/device.hpp>
#include <warpalign/stages/convert.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/transform.hpp>

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {

/// Warps by the exact cubic spline on the device; plans and memory are created once.
class FrameWarper {
 public:
  FrameWarper(const Device& device, const Shape& frame, const Shape& grid);

  /// Channel by channel, in the frame's own type, integers rounded and saturated; 0 outside of the
  /// frame. Values that are not finite count as 0.
  [[nodiscard]] LoadedImage warp(const LoadedImage& frame, const Transform& grid_to_frame);
  /// The same for a gray frame that is on the device: u8, u16, or f32 without values that are not
  /// finite.
  [[nodiscard]] LoadedImage warp(const Image& gray, const Transform& grid_to_frame);

 private:
  struct Output {
    ResamplePlan resample;
    Image pixels;
  };
  /// An integer image on the device, and its conversion to single precision.
  struct Integers {
    Image pixels;
    ConvertPlan to_float;
  };
  Output& output_of(PixelType type);
  void resample(const Image& samples, const Transform& grid_to_frame, PixelType type,
                std::span<std::byte> warped);
  Integers& integers_of(PixelType type);
  const Image& uploaded(std::span<const std::byte> samples, PixelType type);

  Device device_;
  Shape frame_;
  Shape grid_;
  Stream stream_;
  Image input_;
  std::map<PixelType, Integers> integers_;
  std::map<PixelType, Output> outputs_;
};

}  // namespace warpalign::program

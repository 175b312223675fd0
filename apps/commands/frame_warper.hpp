// Resamples images of one size onto the grid of another image.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/device.hpp>
#include <warpalign/stages/resample.hpp>
#include <warpalign/transform.hpp>

#include <map>

namespace warpalign::program {

/// Warps by the exact cubic spline on the device; plans and memory are created once.
class FrameWarper {
 public:
  FrameWarper(const Device& device, const Shape& frame, const Shape& grid);

  /// Channel by channel, in the frame's own type, integers rounded and saturated; 0 outside of the
  /// frame. Values that are not finite count as 0.
  [[nodiscard]] LoadedImage warp(const LoadedImage& frame, const Transform& grid_to_frame);

 private:
  struct Output {
    ResamplePlan resample;
    Image pixels;
  };
  Output& output_of(PixelType type);

  Device device_;
  Shape frame_;
  Shape grid_;
  Stream stream_;
  Image input_;
  std::map<PixelType, Output> outputs_;
};

}  // namespace warpalign::program

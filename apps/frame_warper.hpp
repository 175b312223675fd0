// Pictures of one size on another picture's grid.
#pragma once

#include "image_io/image_file.hpp"
#include "interpolation.hpp"

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <map>

namespace warpalign::program {

/// Warps by the exact cubic spline, on the device; plans and memory are made once.
class FrameWarper {
 public:
  FrameWarper(const Device& device, const Shape& frame, const Shape& grid);

  /// Channel by channel, in the frame's own type, integers rounded and saturated; 0 outside of the
  /// frame. Numbers that are not finite are taken for 0.
  [[nodiscard]] LoadedImage warp(const LoadedImage& frame, const Affine& grid_to_frame);

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

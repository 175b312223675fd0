// Resamples images of one size onto the grid of another image.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/stages/convert.hpp>
#include <warpalign/stages/resample.hpp>

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {

/// Resamples with the exact cubic spline on the device. Creates plans and memory once.
class FrameWarper {
 public:
  FrameWarper(const Device& device, const Shape& frame, const Shape& grid);

  /// Resamples each channel. The result has the frame's type, with integers rounded and saturated,
  /// and is 0 outside the frame. Non-finite values count as 0.
  [[nodiscard]] LoadedImage warp(const LoadedImage& frame, const HomogeneousMatrix& grid_to_frame);
  /// The same for a gray frame on the device: u8, u16, or f32 with finite values only.
  [[nodiscard]] LoadedImage warp(const Image& gray, const HomogeneousMatrix& grid_to_frame);

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
  void resample(const Image& samples, const HomogeneousMatrix& grid_to_frame, PixelType type,
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

// Resamples images of one size onto the grid of another image.
#pragma once

#include "io/npy.hpp"

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
  /// `nodata`: the value of samples that are missing, in frames and results; NaN in any case.
  FrameWarper(const Device& device, const Shape& frame, const Shape& grid,
              std::optional<double> nodata = {});

  /// Resamples each channel. The result has the frame's type, with integers rounded and saturated,
  /// and is 0 outside the frame. Where too few samples are known, it is missing.
  [[nodiscard]] LoadedImage warp(const LoadedImage& frame, const HomogeneousMatrix& grid_to_frame);
  /// The same for a gray frame on the device: u8, u16 or f32, without missing samples.
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
  [[nodiscard]] Array warped(const Array& channel, const HomogeneousMatrix& grid_to_frame);
  [[nodiscard]] Array warped_mask(const Array& mask, const HomogeneousMatrix& grid_to_frame);

  Device device_;
  Shape frame_;
  Shape grid_;
  std::optional<double> nodata_;
  Stream stream_;
  Image input_;
  std::map<PixelType, Integers> integers_;
  std::map<PixelType, Output> outputs_;
  std::optional<Output> mask_output_;  ///< of the known shares
};

}  // namespace warpalign::program

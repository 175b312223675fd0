// Warping of images on a device by a transform whose fields lie there.
#pragma once

#include <warpalign/device_transform.hpp>
#include <warpalign/stages/resample.hpp>

#include <cstddef>
#include <memory>

namespace warpalign {

/// Resamples images at the points to which a DeviceTransform leads the pixels of the output: the
/// same as DeviceTransform::positions() and ResamplePlan with these coordinates, without rounding
/// them to single precision if one kernel does both. It does so for splines of degree 1 or 3 of
/// real images, with full precision, and chains with one displacement field: [affine]*, a field
/// that is interpolated linearly, [affine or homography]*, applied in this order. All other
/// transforms and splines pass through coordinates in memory: f64 and f32, one for each axis and
/// pixel of the output.
///
/// In one kernel, points are exact to 1e-6 pixels plus 2e-7 times the displacement, wherever they
/// lie; points less than 2^-25 pixels beyond an edge, of the image or of the field, count as on it.
/// A NaN coordinate gives cval. Beyond 2^29 pixels, periodic boundary modes give the value at that
/// distance.
class WARPALIGN_API TransformWarpPlan {
 public:
  /// Compiles the kernels, and takes memory for the coefficients. Throws as ResamplePlan does.
  TransformWarpPlan(const Device& device, const ResampleSpec& spec);
  ~TransformWarpPlan();
  /// Moves; never throws Error.
  TransformWarpPlan(TransformWarpPlan&&) noexcept;
  TransformWarpPlan& operator=(TransformWarpPlan&&) noexcept;

  /// Evaluates at transform(p) for each output pixel p, the same points for all arrays of a batch.
  /// The first execution that needs coordinates in memory takes this memory, and the plan keeps it.
  /// All executions share the plan's memory, so the caller must use one stream for them or wait
  /// between executions on different streams. Throws Error(invalid_argument) for a transform of
  /// other dimensions than the images, and for images and transforms of another device, type or
  /// shape, before anything is enqueued.
  void execute(Stream& stream, const Image& image, const DeviceTransform& transform, Image& output,
               OutsideField outside = OutsideField::edge);

  /// The memory that coordinates take so far, in bytes. Never throws Error.
  [[nodiscard]] std::size_t coordinate_bytes() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign

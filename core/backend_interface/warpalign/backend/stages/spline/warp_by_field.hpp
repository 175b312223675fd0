// Stage: evaluation of a spline at the points of a displacement field, which the kernel samples.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/backend/stages/spline/map_points.hpp>
#include <warpalign/device_transform.hpp>
#include <warpalign/homogeneous_matrix.hpp>

#include <array>
#include <memory>

namespace warpalign {

namespace backend {
class WarpByField;
}

/// Evaluates splines of degree 1 or 3 in two or three dimensions, with f32 coefficients and full
/// precision, at the points to which chains with one displacement field lead the output's pixels.
class WARPALIGN_API WarpByFieldPlan {
 public:
  /// Compiles the kernel. Throws Error(invalid_argument) for a spec that it does not serve.
  WarpByFieldPlan(const Device& device, const InterpolateSpec& spec);

  /// Whether there is a kernel for the spec.
  [[nodiscard]] static bool serves(const InterpolateSpec& spec) noexcept;

  /// Whether the device has a kernel for the spec, and the transform consists of affine matrices, a
  /// field that is interpolated linearly, and then matrices, applied in this order, whose points
  /// are nearer than 2^29 pixels.
  [[nodiscard]] bool supports(const DeviceTransform& transform) const;

  /// The same points for all arrays of a batch. Throws Error(invalid_argument) for a transform
  /// without support, and for arguments of another device, type or shape.
  void execute(Stream& stream, const Image& coefficients, const DeviceTransform& transform,
               Image& output, OutsideField outside = OutsideField::edge) const;

 private:
  Device device_;
  InterpolateSpec spec_;
  std::shared_ptr<backend::WarpByField> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The points of the evaluation: output pixel p is read at to_input p plus `linear` times the
/// displacement at index to_index p of the field, in homogeneous coordinates.
struct FieldWarp {
  FieldInMemory field;            ///< linear between its samples, without a margin
  HomogeneousMatrix to_index;     ///< affine
  HomogeneousMatrix to_input;     ///< affine or a homography
  std::array<double, 12> linear;  ///< four rows of three numbers
  bool is_on_grid = false;        ///< pixels are indices of the field, and all have samples
  OutsideField outside = OutsideField::edge;
};

/// Splines of degree 1 or 3 in two or three dimensions, with f32 coefficients and full precision.
/// A driver may make none where the kernel does not fit the device.
class WarpByField : public Stage {
 public:
  struct Setup {
    const InterpolateSpec& spec;
    const InterpolateDetails& details;
  };

  /// The same points for all arrays of a batch. Coordinates must be below 2^29 where the field is
  /// zero, and extents of the output at most 2^24.
  virtual void enqueue(Queue& queue, const Memory& coefficients, const FieldWarp& warp,
                       Memory& output) = 0;
};

}  // namespace warpalign::backend

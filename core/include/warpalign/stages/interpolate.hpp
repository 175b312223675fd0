// Stage: evaluation of a B-spline at arbitrary points.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/stages/spline_model.hpp>
#include <warpalign/transform.hpp>

#include <span>

namespace warpalign {

namespace backend {
class Interpolate;
struct SamplingPoints;
}  // namespace backend
namespace detail {
class ConvertedOutput;
}

/// What an InterpolatePlan is made for.
struct InterpolateSpec {
  /// With a prefilter, the coefficients must include the margin that PrefilterPlan::margin() gives
  /// for the boundary mode. Without one, they are samples, extended by the boundary mode.
  SplineModel spline{};
  ImageBatch images{};  ///< the samples, without the coefficients' margin
  Shape output{};       ///< of one array; it has as many dimensions as the images
  PixelType coefficients = PixelType::f32;  ///< f32 or c32
  /// c32 for c32 coefficients, any other type for f32 ones. For integers, results are rounded to
  /// the nearest one (halves away from zero) and saturated, and NaN gives 0.
  PixelType output_type = PixelType::f32;

  friend bool operator==(const InterpolateSpec&, const InterpolateSpec&) = default;
};

/// A grid of points in polar coordinates about a centre: output (i, j) is read at radius
/// exp(log_radius0 + i log_step) (pixels), angle angle0 + j angle_step (radians, from x towards y),
/// about the point (centre_x, centre_y) of the input.
struct LogPolarSampling {
  double centre_x = 0, centre_y = 0;
  double log_radius0 = 0, log_step = 0;
  double angle0 = 0, angle_step = 0;
};

/// Computes s(x) = sum_k c(k) beta_degree(x - k) (Ruijters et al., equation 1), as a tensor product
/// in 2-D and 3-D, at the points that are passed to `execute`. Output pixels have integer
/// coordinates (x, y, z).
///
/// Points may lie anywhere: the boundary mode determines the value outside. Infinite coordinates
/// give the mode's value where it has one (`constant`, `grid_constant`: cval; `nearest`: the edge)
/// and cval otherwise; NaN gives cval. Nothing is read out of bounds.
///
/// Each array of a batch has the result that a plan for it alone gives; where arrays have
/// transforms of their own that need kernels of different kinds (affine ones and others, say), it
/// may differ from that by rounding. OpenCL evaluates a batch by one launch, or with `texture`
/// precision by one for each array; CUDA launches once for each array.
///
/// Results of the types i8, i16, u32, i32 and f64 are converted from f32, which memory of the
/// plan's own holds meanwhile; with them, use one stream for all executions or wait between those
/// on different streams. The same holds for batches, whose transforms memory of the plan's own
/// holds.
///
/// Accuracy of `full`: within 4e-7 of the largest coefficient, given the point.
///
/// The constructor throws Error(invalid_argument) for a wrong spec, and Error(build_failed) where a
/// kernel cannot be compiled. Executions throw Error(invalid_argument) for images of another
/// device, type or shape, before anything is enqueued.
class WARPALIGN_API InterpolatePlan {
 public:
  /// Compiles the kernels that the spec needs.
  InterpolatePlan(const Device& device, const InterpolateSpec& spec);

  /// Evaluates at output_to_input(output point), in all arrays of a batch alike. These points are
  /// computed in more than single precision.
  void execute(Stream& stream, const Image& coefficients, const Transform& output_to_input,
               Image& output) const;
  /// The same with a transform for each array of a batch. Their number must be `images.count`.
  void execute(Stream& stream, const Image& coefficients,
               std::span<const Transform> output_to_input, Image& output) const;
  /// Evaluates at the points of a coordinate field, the same for all arrays: f32 of shape
  /// coordinates_shape(), a stack of `dimensions` arrays of the output's shape, first all x, then
  /// all y, then all z.
  void execute(Stream& stream, const Image& coefficients, const Image& coordinates,
               Image& output) const;
  /// Evaluates on a log-polar grid; two dimensions only.
  void execute(Stream& stream, const Image& coefficients, const LogPolarSampling& grid,
               Image& output) const;

  /// Evaluates value and gradient in one pass, for degree >= 1, f32 output and `full` precision.
  /// `gradient` is f32 of shape gradient_shape(): ds/dx of all points, then ds/dy, then ds/dz,
  /// with respect to the input's coordinates. (For degree 1 at a sample, it is the slope towards
  /// larger coordinates.) Where the value is cval, the gradient is 0; beyond the margin of
  /// `nearest` the component along that axis is 0.
  void execute_with_gradient(Stream& stream, const Image& coefficients,
                             const Transform& output_to_input, Image& output,
                             Image& gradient) const;
  void execute_with_gradient(Stream& stream, const Image& coefficients,
                             std::span<const Transform> output_to_input, Image& output,
                             Image& gradient) const;
  void execute_with_gradient(Stream& stream, const Image& coefficients, const Image& coordinates,
                             Image& output, Image& gradient) const;

  /// The shape of one array's output with its depth multiplied by the number of dimensions.
  [[nodiscard]] static Shape coordinates_shape(const InterpolateSpec& spec) noexcept;
  /// The shape of all arrays' output with its depth multiplied by the number of dimensions: that of
  /// the coordinates, but for batches.
  [[nodiscard]] static Shape gradient_shape(const InterpolateSpec& spec) noexcept;
  /// The shape that `coefficients` must have: that of the image, plus the margin if prefiltered, of
  /// all arrays of the batch. Throws Error(invalid_argument) for a shape or a batch that no plan
  /// takes.
  [[nodiscard]] static Shape coefficient_shape(const InterpolateSpec& spec);

 private:
  void run(Stream& stream, const Image& coefficients, const backend::SamplingPoints& points,
           Image& output, Image* gradient) const;
  [[nodiscard]] backend::SamplingPoints points_of(const Transform& transform) const;
  [[nodiscard]] backend::SamplingPoints points_of(std::span<const Transform> transforms) const;
  [[nodiscard]] backend::SamplingPoints points_of(const Image& coordinates) const;

  Device device_;
  InterpolateSpec spec_;
  std::shared_ptr<backend::Interpolate> kernel_;
  std::shared_ptr<detail::ConvertedOutput> converted_;  ///< null where the kernels store the type
};

}  // namespace warpalign

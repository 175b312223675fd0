// Stage: evaluation of a B-spline at arbitrary points.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/stages/spline_model.hpp>

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
  /// c32 for c32 coefficients, any other type for f32 ones. Integer results are rounded to the
  /// nearest integer (halves away from zero) and saturated, and NaN gives 0.
  PixelType output_type = PixelType::f32;

  friend bool operator==(const InterpolateSpec&, const InterpolateSpec&) = default;
};

/// A log-polar grid of points: output (i, j) is sampled at the radius exp(log_radius0 + i log_step)
/// (pixels) and the angle angle0 + j angle_step (radians, from x towards y) about the point
/// (centre_x, centre_y) of the input.
struct LogPolarSampling {
  double centre_x = 0, centre_y = 0;
  double log_radius0 = 0, log_step = 0;
  double angle0 = 0, angle_step = 0;
};

/// Computes s(x) = sum_k c(k) beta_degree(x - k) (Ruijters et al., equation 1), as a tensor product
/// in 2-D and 3-D, at the points that are passed to `execute`. Output pixels have integer
/// coordinates (x, y, z).
///
/// Points may lie anywhere: the boundary mode determines the value outside. At an infinite
/// coordinate the result is the edge sample for `nearest` and cval for all other modes; at NaN it
/// is cval. Nothing is read out of bounds.
///
/// Each array of a batch has the same result as with a plan for one array. It may differ by
/// rounding if the arrays have different transforms that need different kernels, such as affine and
/// projective ones. OpenCL evaluates a batch in one launch, or with `texture` precision in one
/// launch per array; CUDA uses one launch per array.
///
/// If the output type is i8, i16, u32, i32 or f64, or if there is more than one array, executions
/// share memory of the plan (f32 results, transforms). Then use one stream for all executions, or
/// wait between executions on different streams.
///
/// Accuracy of `full`: within 4e-7 of the largest coefficient, given the point.
///
/// The constructor throws Error(invalid_argument) for a wrong spec, and Error(build_failed) if a
/// kernel does not compile. Executions throw Error(invalid_argument) for images of another
/// device, type or shape, before anything is enqueued.
class WARPALIGN_API InterpolatePlan {
 public:
  /// Compiles the kernels that the spec needs.
  InterpolatePlan(const Device& device, const InterpolateSpec& spec);

  /// Evaluates at output_to_input(output point), the same transform for all arrays of a batch. The
  /// points are computed in more than single precision.
  void execute(Stream& stream, const Image& coefficients, const HomogeneousMatrix& output_to_input,
               Image& output) const;
  /// The same with one transform for each array: `images.count` transforms.
  void execute(Stream& stream, const Image& coefficients,
               std::span<const HomogeneousMatrix> output_to_input, Image& output) const;
  /// Evaluates at the points of a coordinate field, the same for all arrays: f32 of shape
  /// coordinates_shape(), a stack of `dimensions` arrays of the output's shape, first all x, then
  /// all y, then all z.
  void execute(Stream& stream, const Image& coefficients, const Image& coordinates,
               Image& output) const;
  /// Evaluates on a log-polar grid; two dimensions only.
  void execute(Stream& stream, const Image& coefficients, const LogPolarSampling& grid,
               Image& output) const;

  /// Evaluates value and gradient in one pass, for degree >= 1, f32 output and `full` precision.
  /// `gradient` is f32 of shape gradient_shape(): ds/dx of all points, then ds/dy, then ds/dz, with
  /// respect to the input's coordinates. (For degree 1 at a sample, it is the slope towards larger
  /// coordinates.) If the value is cval, the gradient is 0; beyond the margin of `nearest` the
  /// component along that axis is 0.
  void execute_with_gradient(Stream& stream, const Image& coefficients,
                             const HomogeneousMatrix& output_to_input, Image& output,
                             Image& gradient) const;
  void execute_with_gradient(Stream& stream, const Image& coefficients,
                             std::span<const HomogeneousMatrix> output_to_input, Image& output,
                             Image& gradient) const;
  void execute_with_gradient(Stream& stream, const Image& coefficients, const Image& coordinates,
                             Image& output, Image& gradient) const;

  /// The shape of one array's output with its depth multiplied by the number of dimensions.
  [[nodiscard]] static Shape coordinates_shape(const InterpolateSpec& spec) noexcept;
  /// The shape of the output of all arrays with its depth multiplied by the number of dimensions.
  [[nodiscard]] static Shape gradient_shape(const InterpolateSpec& spec) noexcept;
  /// The shape that `coefficients` must have: that of the image, plus the margin if prefiltered, of
  /// all arrays of the batch. Throws Error(invalid_argument) for an invalid shape or batch.
  [[nodiscard]] static Shape coefficient_shape(const InterpolateSpec& spec);

 private:
  void run(Stream& stream, const Image& coefficients, const backend::SamplingPoints& points,
           Image& output, Image* gradient) const;
  [[nodiscard]] backend::SamplingPoints points_of(const HomogeneousMatrix& transform) const;
  [[nodiscard]] backend::SamplingPoints points_of(
      std::span<const HomogeneousMatrix> transforms) const;
  [[nodiscard]] backend::SamplingPoints points_of(const Image& coordinates) const;

  Device device_;
  InterpolateSpec spec_;
  std::shared_ptr<backend::Interpolate> kernel_;
  std::shared_ptr<detail::ConvertedOutput> converted_;  ///< null where the kernels store the type
};

}  // namespace warpalign

// Stage: evaluate a B-spline anywhere.
#pragma once

#include <warpalign/boundary.hpp>
#include <warpalign/device.hpp>
#include <warpalign/transform.hpp>

namespace warpalign {

namespace backend {
class Interpolate;
struct SamplingPoints;
}  // namespace backend

/// How weights and products are computed.
enum class Precision {
  full,  ///< single precision, (degree + 1)^n neighbours
  /// 2^n hardware linear lookups, weights on the fly (Ruijters et al., equation 5). As `full` where
  /// a device has no usable filtering, and where degree 1 would need a copy that costs more than
  /// the loads: see docs/interpolation.md.
  texture,
  texture_lut  ///< the same with Sigg & Hadwiger's table of 128 entries; a comparison
};

struct InterpolateSpec {
  Shape image;  ///< of the samples (without the coefficients' margin)
  Shape output;
  int dimensions = 2;                       ///< 1, 2 or 3; extents of further axes must be 1
  PixelType coefficients = PixelType::f32;  ///< f32 or c32
  /// u8, u16, f16 or f32 for f32 coefficients, c32 for c32. Integers are rounded to the nearest
  /// (halves away from zero) and saturated.
  PixelType output_type = PixelType::f32;
  int degree = 3;  ///< 0 to 5
  Boundary boundary = Boundary::mirror;
  double cval = 0;  ///< of `constant` and `grid_constant`, and for coordinates that are NaN
  /// `texture` and `texture_lut`: degree 1 or 3, 2 or 3 dimensions, f32 coefficients.
  Precision precision = Precision::full;
  /// Whether the coefficients were prefiltered with this boundary mode and so carry the margin of
  /// PrefilterPlan::margin(). Never for degrees 0 and 1; false also evaluates samples themselves
  /// (the smoothing variant that Ruijters et al. warn of), extended by the boundary mode.
  bool prefiltered = true;
};

/// A grid of points in polar coordinates about a centre: output (i, j) is read at radius
/// exp(log_radius0 + i log_step), angle angle0 + j angle_step (radians, from x towards y).
struct LogPolarSampling {
  double centre_x = 0, centre_y = 0;
  double log_radius0 = 0, log_step = 0;
  double angle0 = 0, angle_step = 0;
};

/// s(x) = sum_k c(k) beta_degree(x - k) (Ruijters et al., equation 1), as a tensor product in 2-D
/// and 3-D, at the points that `execute` is told, for output coordinates (x, y, z) at integers.
///
/// Points may lie anywhere: the boundary mode gives the value outside; infinite coordinates give
/// the mode's value where it has one (`constant`, `grid_constant`: cval; `nearest`: the edge) and
/// cval elsewhere; NaN gives cval. Nothing is read out of bounds.
///
/// Results of `full`: within 4e-7 of the largest coefficient, given the point.
class WARPALIGN_API InterpolatePlan {
 public:
  InterpolatePlan(const Device& device, const InterpolateSpec& spec);

  /// At transform(output point). The transform's points are computed in more than single precision.
  void execute(Stream& stream, const Image& coefficients, const Transform& output_to_input,
               Image& output) const;
  /// At the points of a coordinate field: f32 of shape coordinates_shape(): a stack of
  /// `dimensions` arrays of the output's shape, all x first, then y, then z.
  void execute(Stream& stream, const Image& coefficients, const Image& coordinates,
               Image& output) const;
  /// On a log-polar grid; two dimensions.
  void execute(Stream& stream, const Image& coefficients, const LogPolarSampling& grid,
               Image& output) const;

  /// Value and gradient in one pass, for degree >= 1, f32, `full`. `gradient` is f32 of shape
  /// coordinates_shape(): ds/dx of all points, then ds/dy, then ds/dz, with respect to the input's
  /// coordinates. (For degree 1 at a sample: the slope towards larger coordinates.)
  /// Where the value is cval the gradient is 0; beyond `nearest`'s margin that along the axis is 0.
  void execute_with_gradient(Stream& stream, const Image& coefficients,
                             const Transform& output_to_input, Image& output,
                             Image& gradient) const;
  void execute_with_gradient(Stream& stream, const Image& coefficients, const Image& coordinates,
                             Image& output, Image& gradient) const;

  /// The output's shape with its depth multiplied by the number of dimensions.
  [[nodiscard]] static Shape coordinates_shape(const InterpolateSpec& spec) noexcept;
  /// The shape that `coefficients` must have: that of the image, with the margin if prefiltered.
  [[nodiscard]] static Shape coefficient_shape(const InterpolateSpec& spec);

 private:
  void run(Stream& stream, const Image& coefficients, const backend::SamplingPoints& points,
           Image& output, Image* gradient) const;
  [[nodiscard]] backend::SamplingPoints points_of(const Transform& transform) const;
  [[nodiscard]] backend::SamplingPoints points_of(const Image& coordinates) const;

  Device device_;
  InterpolateSpec spec_;
  std::shared_ptr<backend::Interpolate> kernel_;
};

}  // namespace warpalign

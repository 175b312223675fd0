// Stage: an image read at other points, prefilter and evaluation in one.
#pragma once

#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <optional>

namespace warpalign {

namespace backend {
class Resample;
}

struct ResampleSpec {
  Shape image;
  Shape output;
  int dimensions = 2;  ///< 1, 2 or 3; extents of further axes must be 1
  /// u8, u16, f16, f32 or c32; without a prefilter f32 or c32.
  PixelType input = PixelType::f32;
  /// u8, u16, f16 or f32 of real images, c32 of c32. Integers are rounded to the nearest (halves
  /// away from zero) and saturated.
  PixelType output_type = PixelType::f32;
  int degree = 3;  ///< 0 to 5; 0 and 1 take no prefilter
  /// None: the samples count as the coefficients.
  std::optional<PrefilterMethod> prefilter = PrefilterMethod::exact;
  int taps = 15;  ///< of `fir`
  Boundary boundary = Boundary::mirror;
  double cval = 0;  ///< of `constant` and `grid_constant`, and for coordinates that are NaN
  Precision precision = Precision::full;
};

/// PrefilterPlan and InterpolatePlan in one: coefficients are the plan's own, or exist only within
/// a kernel. On CUDA, cubic splines in the plane, from f32, with exact prefilter and full precision
/// are resampled by one kernel under affine transforms that hardly shrink the image: up to 1.4
/// samples a pixel where rows stay rows or become columns, 1.01 at 45 degrees.
///
/// Results: as of the two stages one after the other, within 8e-7 of the largest coefficient.
class WARPALIGN_API ResamplePlan {
 public:
  ResamplePlan(const Device& device, const ResampleSpec& spec);

  // Executions share the plan's coefficients: they are for one stream, or the caller waits between.

  /// At transform(output point).
  void execute(Stream& stream, const Image& image, const Transform& output_to_input, Image& output);
  /// At the points of a coordinate field as InterpolatePlan takes it.
  void execute(Stream& stream, const Image& image, const Image& coordinates, Image& output);

 private:
  void check(Stream& stream, const Image& image, const Image& output) const;
  const Image& coefficients_of(Stream& stream, const Image& image);

  Device device_;
  ResampleSpec spec_;
  std::shared_ptr<backend::Resample> kernel_;  ///< null: there is none
  InterpolatePlan interpolate_;
  std::optional<PrefilterPlan> prefilter_;
  std::optional<Image> coefficients_;
};

}  // namespace warpalign

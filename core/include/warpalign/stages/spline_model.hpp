// Types of all spline stages: the spline model, and the arrays that it is fitted to.
#pragma once

#include <warpalign/boundary.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <optional>

namespace warpalign {

/// How samples are converted to coefficients.
enum class PrefilterMethod {
  exact,    ///< the recursive filter, exact to single precision, organised for the device
  fir,      ///< Champagnat & Le Sant: convolution with the truncated closed form; cubic only
  iir_line  ///< Ruijters & Thevenaz: the two-pass recursion, one line per thread (a baseline)
};

/// How a spline is evaluated.
enum class Precision {
  full,  ///< single precision, (degree + 1)^n neighbours
  /// 2^n linear lookups by the texture hardware, with weights computed on the fly (Ruijters et al.,
  /// equation 5). Same as `full` if the device has no usable filtering, and for degree 1 if it
  /// would need a copy that costs more than the loads; see docs/interpolation.md.
  texture,
  texture_lut  ///< as `texture`, with Sigg & Hadwiger's table of 128 entries, for comparison
};

/// The model of a B-spline, which determines values between samples and beyond the edges.
///
/// The constructors of PrefilterPlan, InterpolatePlan and ResamplePlan throw
/// Error(invalid_argument) if a member that they use is out of range.
struct SplineModel {
  int degree = 3;  ///< 0 to 5; PrefilterPlan takes 2 to 5, because 0 and 1 need no prefilter
  /// The filter that converts samples to coefficients. Empty: the samples are the coefficients (the
  /// smoothing variant that Ruijters et al. warn about). PrefilterPlan requires a filter.
  /// ResamplePlan requires an empty value for degrees 0 and 1. InterpolatePlan only uses whether
  /// there is one, and ignores it for degrees 0 and 1.
  std::optional<PrefilterMethod> prefilter = PrefilterMethod::exact;
  int taps = 15;                          ///< for `fir`: odd, 3 to 63
  Boundary boundary = Boundary::mirror;   ///< how samples continue beyond the edges
  double cval = 0;                        ///< the value beyond the edges for `constant` and
                                          ///< `grid_constant`, and at NaN coordinates; finite
  Precision precision = Precision::full;  ///< of the evaluation. `texture` and `texture_lut`
                                          ///< require degree 1 or 3, 2-D or 3-D, and real data

  friend bool operator==(const SplineModel&, const SplineModel&) = default;
};

/// A batch of arrays of one shape. One execution processes all of them. They are passed as one
/// image of shape stacked().
struct ImageBatch {
  Shape shape{};           ///< of one array, in pixels
  int dimensions = 2;      ///< of one array: 1 (a line along x), 2 (an image) or 3 (a volume)
  std::int64_t count = 1;  ///< the number of arrays; at least 1

  /// The shape of all arrays, one after the other in memory. Does not check for overflow.
  [[nodiscard]] constexpr Shape stacked() const noexcept {
    return warpalign::stacked(shape, dimensions, count);
  }

  friend bool operator==(const ImageBatch&, const ImageBatch&) = default;
};

}  // namespace warpalign

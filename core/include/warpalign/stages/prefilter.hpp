// Stage: conversion of samples to B-spline coefficients.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/stages/spline_model.hpp>

#include <vector>

namespace warpalign {

namespace backend {
class Prefilter;
}
namespace detail {
class ConvertedInput;
}

/// What a PrefilterPlan is made for.
struct PrefilterSpec {
  SplineModel spline{};  ///< degree 2 to 5, with a prefilter; the precision does not matter
  /// The samples. The plan filters along the first `dimensions` axes. The other axes contain
  /// independent lines or images: extending such an axis is the same as increasing the count.
  ImageBatch images{};
  PixelType input = PixelType::f32;  ///< c32 gives c32 coefficients, any other type f32

  friend bool operator==(const PrefilterSpec&, const PrefilterSpec&) = default;
};

/// Computes the B-spline coefficients c of samples s: s(l) = sum_k c(k) beta_degree(l - k) along
/// every filtered axis (Champagnat & Le Sant, equation 4).
///
/// The boundary mode extends the samples beyond the edges (`constant` and `wrap` by `mirror`, as in
/// SciPy). With most modes the coefficients repeat by the same rule, and need no memory beyond the
/// edges. With `nearest` and `grid_constant` the coefficients beyond the edges differ from those
/// within, so the plan keeps margin() more coefficients at either end of every filtered axis.
/// Beyond the margin they are constant to single precision.
///
/// Samples should be finite: a NaN or infinite sample corrupts the coefficients around it, at any
/// distance, along every filtered axis.
///
/// The plan first converts samples of the types i8, i16, u32, i32 and f64 to f32, in its own
/// memory. For these types, use one stream for all executions, or wait between executions on
/// different streams.
///
/// The length of the blocks that are filtered at a time depends on the amount of work. So the
/// coefficients of an array in a batch may differ by rounding from those of the array alone.
///
/// Accuracy: within 4e-7 of the largest coefficient (`exact`, and `iir_line` in 1-D and 2-D;
/// `iir_line` in 3-D within 7.2e-7).
///
/// The constructor throws Error(invalid_argument) for a wrong spec, and Error(build_failed) if a
/// kernel does not compile. Executions throw Error(invalid_argument) for images of another
/// device, type or shape, before anything is enqueued.
class WARPALIGN_API PrefilterPlan {
 public:
  /// Compiles the kernels that the spec needs.
  PrefilterPlan(const Device& device, const PrefilterSpec& spec);
  /// Enqueues the filter. `coefficients` has the type coefficient_type() and the shape
  /// coefficient_shape().
  void execute(Stream& stream, const Image& samples, Image& coefficients) const;

  /// Number of coefficients kept beyond each edge: 0 except for `nearest` and `grid_constant`.
  [[nodiscard]] static int margin(int degree, Boundary boundary);
  /// The shape of the coefficients of all arrays of a batch, with the margins. Throws
  /// Error(invalid_argument) for an invalid shape or batch.
  [[nodiscard]] static Shape coefficient_shape(const PrefilterSpec& spec);
  /// c32 for c32 samples, f32 for all others.
  [[nodiscard]] static PixelType coefficient_type(PixelType samples);
  /// The poles z (|z| < 1) of the recursive filter for a degree: none for degrees 0 and 1, one for
  /// 2 and 3, two for 4 and 5 (Unser 1999).
  [[nodiscard]] static std::vector<double> poles(int degree);
  /// Number of samples after which the influence of the recursion's initial value is below 2^-24 of
  /// a sample: |z|^horizon <= 2^-24 for the slowest pole.
  [[nodiscard]] static int horizon(int degree);
  /// The taps b(-K) ... b(K) of `fir`: b(k) = sqrt(3) (sqrt(3) - 2)^|k|, normalised to the sum 1
  /// (Champagnat & Le Sant, proposition 1). Throws Error(invalid_argument) for an even number of
  /// taps.
  [[nodiscard]] static std::vector<double> fir_taps(int taps);

 private:
  Device device_;
  PrefilterSpec spec_;
  std::shared_ptr<backend::Prefilter> kernel_;
  std::shared_ptr<detail::ConvertedInput> converted_;  ///< null where the kernels load the type
};

}  // namespace warpalign

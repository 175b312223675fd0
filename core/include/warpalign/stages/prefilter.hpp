// Stage: from samples to B-spline coefficients.
#pragma once

#include <warpalign/boundary.hpp>
#include <warpalign/device.hpp>

#include <vector>

namespace warpalign {

namespace backend {
class Prefilter;
}

enum class PrefilterMethod {
  exact,    ///< the recursive filter, exact to single precision, organised for the device
  fir,      ///< Champagnat & Le Sant: convolution with the truncated closed form; cubic only
  iir_line  ///< Ruijters & Thevenaz: the two-pass recursion, one line a thread (a baseline)
};

struct PrefilterSpec {
  Shape shape;                       ///< of the samples
  int dimensions = 2;                ///< 1: filter along x; 2: x and y; 3: x, y and z. The other
                                     ///< axes hold independent lines or images
  PixelType input = PixelType::f32;  ///< u8, u16, f16, f32 (coefficients f32) or c32 (c32)
  int degree = 3;                    ///< 2 to 5; degrees 0 and 1 need no prefilter
  PrefilterMethod method = PrefilterMethod::exact;
  int taps = 15;  ///< of `fir`: odd, 3 to 63
  Boundary boundary = Boundary::mirror;
  double cval = 0;  ///< of `grid_constant`
};

/// B-spline coefficients c of samples s: s(l) = sum_k c(k) beta_degree(l - k) along every filtered
/// axis (Champagnat & Le Sant, equation 4).
///
/// The samples count as extended beyond the edges by the boundary mode (`constant` and `wrap` are
/// extended by `mirror`, as in SciPy). The coefficients of extended samples repeat by the same rule
/// and need no memory of their own, except for `nearest` and `grid_constant`, whose coefficients
/// beyond the edge differ from those within: there, coefficients are kept for margin() more samples
/// on either side of every filtered axis, by when they have settled to single precision.
///
/// Samples should be finite: one that is not spoils the coefficients around it, however far, along
/// every filtered axis.
///
/// Results: within 4e-7 of the largest coefficient (exact; iir_line too, but 7.2e-7 in 3-D).
class WARPALIGN_API PrefilterPlan {
 public:
  PrefilterPlan(const Device& device, const PrefilterSpec& spec);
  /// `coefficients` has the type of coefficient_type() and the shape of coefficient_shape().
  void execute(Stream& stream, const Image& samples, Image& coefficients) const;

  /// Coefficients kept beyond each edge: 0 but for `nearest` and `grid_constant`.
  [[nodiscard]] static int margin(int degree, Boundary boundary);
  [[nodiscard]] static Shape coefficient_shape(const PrefilterSpec& spec);
  [[nodiscard]] static PixelType coefficient_type(PixelType samples);
  /// The poles z (|z| < 1) of the recursive filter of a degree: none for 0 and 1, one for 2 and 3,
  /// two for 4 and 5 (Unser 1999).
  [[nodiscard]] static std::vector<double> poles(int degree);
  /// Samples after which the recursion has forgotten its start, to 2^-24 of a sample: from
  /// |z|^horizon <= 2^-24 for the slowest pole.
  [[nodiscard]] static int horizon(int degree);
  /// The taps b(-K) ... b(K) of `fir`: b(k) = sqrt(3) (sqrt(3) - 2)^|k|, normalised to sum 1
  /// (Champagnat & Le Sant, proposition 1). Throws Error(invalid_argument) for even counts.
  [[nodiscard]] static std::vector<double> fir_taps(int taps);

 private:
  Device device_;
  PrefilterSpec spec_;
  std::shared_ptr<backend::Prefilter> kernel_;
};

}  // namespace warpalign

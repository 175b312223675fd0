// Stage: resampling by an affine transform, without aliasing where it shrinks.
#pragma once

#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/stages/resample.hpp>

#include <memory>
#include <optional>

namespace warpalign {

namespace backend {
class FootprintMeans;
}

/// Resamples arrays by an affine transform, as ResamplePlan does, but takes the mean of the spline
/// over each output pixel's footprint, an ellipse in the input (elliptical weighted average,
/// Heckbert 1989, "Fundamentals of Texture Mapping and Image Warping", Master's thesis, University
/// of California, Berkeley).
///
/// If J is the linear part of the transform from output to input, the square roots s of the
/// eigenvalues of J J^T are the numbers of input samples for each output sample along its
/// eigenvectors u. The footprint is a Gaussian with the standard deviation max(0, (s - 1) / 2)
/// along u: its covariance is ((J J^T)^(1/2) - I)^2 / 4 where that shrinks, which for a zoom is the
/// Gaussian of ZoomPlan. The mean is the sum of the spline at points that lie one sample apart
/// along each u, weighted by the Gaussians' values there, up to 4 standard deviations, which sum
/// to 1. For a zoom these points are the Gaussian filter's samples.
///
/// If the centre of a footprint is outside the samples, `constant` gives cval; its other points,
/// and all points in the other modes, take the spline as `mode` extends it (mirrored, with
/// `constant`). Results are accurate to 2e-6 of the largest coefficient.
class WARPALIGN_API AntialiasedResamplePlan {
 public:
  /// The spline has degree 1 to 5, the exact prefilter or none, and full precision. The transform
  /// is affine. Throws Error(invalid_argument) otherwise, and if the footprint has more than 2^20
  /// points.
  AntialiasedResamplePlan(const Device& device, const ResampleSpec& spec,
                          const HomogeneousMatrix& output_to_input);

  /// Throws Error(invalid_argument) for images of another device, type or shape, before anything
  /// is enqueued. All executions share the plan's memory, so the caller must use one stream for
  /// them or wait between executions on different streams.
  void execute(Stream& stream, const Image& image, Image& output);

 private:
  Device device_;
  ResampleSpec spec_;
  std::optional<PrefilterPlan> prefilter_;
  std::optional<Image> coefficients_;
  std::shared_ptr<detail::ConvertedInput> converted_input_;
  std::shared_ptr<detail::ConvertedOutput> converted_output_;
  std::shared_ptr<backend::FootprintMeans> kernel_;
  Buffer rows_, points_;
};

}  // namespace warpalign

// Stage: zoom along the axes, without aliasing where they shrink.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/stages/spline_model.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign {

class ConvertPlan;
class WeightedSumsPlan;

/// How a zoom avoids aliasing along the axes that shrink.
enum class Antialias {
  gaussian,      ///< smooths the samples by a Gaussian, then interpolates them
  least_squares  ///< takes the spline of the output's spacing that is nearest to the input's spline
};

/// The name of a method: "gaussian" or "least-squares".
[[nodiscard]] WARPALIGN_API const char* name_of(Antialias method) noexcept;
/// The method with the given name. Throws Error(invalid_argument), which lists the names, for an
/// unknown one.
[[nodiscard]] WARPALIGN_API Antialias antialias_of_name(const std::string& name);

/// What a ZoomPlan is made for.
struct ZoomSpec {
  /// The spline: degree 1 to 5, with the exact prefilter above 1, or without one for images that
  /// hold coefficients; full precision.
  SplineModel spline{};
  ImageBatch images{};  ///< the samples
  Shape output{};       ///< of one array; it has as many dimensions as the images
  /// Whether the outer edges of the first and last pixels coincide in input and output, instead of
  /// their centres.
  bool align_edges = false;
  Antialias antialias = Antialias::gaussian;  ///< how axes that shrink are kept from aliasing
  PixelType input = PixelType::f32;           ///< the type of the samples; any type
  /// c32 for complex images, any other type for real ones. Conversions as for ResamplePlan.
  PixelType output_type = PixelType::f32;
  /// Whether to compute in double precision, with which types are converted directly. Needs real
  /// images and a device with DeviceInfo::double_precision.
  bool in_double = false;

  friend bool operator==(const ZoomSpec&, const ZoomSpec&) = default;
};

/// Zooms arrays. The step s of an axis is the number of input samples for each output sample: with
/// `align_edges` the ratio of the lengths, n / m, else (n - 1) / (m - 1), or n if m is 1.
///
/// `gaussian` smooths the samples along each axis of s > 1 by a Gaussian with a standard deviation
/// of (s - 1) / 2 samples, as scikit-image does: its weights are those at the integers up to
/// 4 sigma, scaled to the sum 1. The result is the spline of the smoothed samples. Beyond the edges
/// the Gaussian sees the samples as the prefilter does: mirrored with `constant` and `wrap`, so
/// that cval never mixes with samples, and according to their names with the other modes.
///
/// `least_squares` minimises the integral of the squared difference between the splines of input
/// and output along each axis of s > 1 (Unser, Aldroubi and Eden 1995; Munoz, Blu and Unser 2001).
/// Its boundary mode must extend both splines alike: `reflect` or `grid_wrap` with `align_edges`,
/// else `mirror`, `constant` or `wrap`, which all mirror the samples.
///
/// Other axes are interpolated. One axis is computed after the other, the one that shrinks most
/// first, and only at output samples; the sums are those of float numbers, with weights computed in
/// double precision: results are accurate to 1e-6 of the largest sample, or with `in_double` to
/// 1e-14.
class WARPALIGN_API ZoomPlan {
 public:
  /// Compiles a kernel, computes the weights and takes memory for the results between the axes.
  /// Throws Error(invalid_argument) for a wrong spec.
  ZoomPlan(const Device& device, const ZoomSpec& spec);

  /// Throws Error(invalid_argument) for images of another device, type or shape, before anything
  /// is enqueued. All executions share the plan's memory, so the caller must use one stream for
  /// them or wait between executions on different streams.
  void execute(Stream& stream, const Image& image, Image& output);

  /// The device memory of a plan, in bytes, without that of images and outputs. Never throws Error.
  [[nodiscard]] static std::size_t scratch_bytes(const ZoomSpec& spec);

 private:
  Device device_;
  ZoomSpec spec_;
  std::shared_ptr<const std::vector<WeightedSumsPlan>> passes_;
  std::vector<Buffer> between_;                ///< at most two, used in turn
  std::shared_ptr<ConvertPlan> load_, store_;  ///< null if the types are those of the sums
  std::optional<Image> loaded_, sums_;
};

}  // namespace warpalign

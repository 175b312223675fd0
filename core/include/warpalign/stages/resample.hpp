// Stage: resampling of an image: prefilter and evaluation in one plan.
#pragma once

#include <warpalign/stages/interpolate.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <optional>
#include <span>

namespace warpalign {

class TransformWarpPlan;

namespace backend {
class Resample;
}
namespace detail {
class ConvertedInput;
class ConvertedOutput;
}  // namespace detail

/// What a ResamplePlan is made for.
struct ResampleSpec {
  SplineModel spline{};              ///< without a prefilter for degrees 0 and 1
  ImageBatch images{};               ///< the samples
  Shape output{};                    ///< of one array; it has as many dimensions as the images
  PixelType input = PixelType::f32;  ///< the type of the samples; any type
  /// c32 for complex images, any other type for real ones. Integer results are rounded to the
  /// nearest integer (halves away from zero) and saturated, and NaN gives 0.
  PixelType output_type = PixelType::f32;

  friend bool operator==(const ResampleSpec&, const ResampleSpec&) = default;
};

/// Combines PrefilterPlan and InterpolatePlan. The plan owns the memory of the coefficients, or
/// keeps them within a kernel. On CUDA, a single kernel resamples 2-D cubic splines of f32 images
/// with the exact prefilter and full precision, if the transform is affine and hardly shrinks the
/// image: up to 1.4 samples per pixel for rotations by multiples of 90 degrees, up to 1.01 at 45
/// degrees.
///
/// Results are those of the two stages, within 8e-7 of the largest coefficient. Sources: Champagnat
/// & Le Sant; Ruijters et al.
///
/// The constructor throws Error(invalid_argument) for a wrong spec, and Error(build_failed) if a
/// kernel does not compile. Executions throw Error(invalid_argument) for images of another
/// device, type or shape, before anything is enqueued.
class WARPALIGN_API ResamplePlan {
 public:
  /// Compiles the kernels that the spec needs, and takes memory for the coefficients.
  ResamplePlan(const Device& device, const ResampleSpec& spec);

  // All executions share the plan's memory, so the caller must use one stream for them or
  // wait between executions on different streams.

  /// Evaluates at output_to_input(output point), the same transform for all arrays of a batch.
  void execute(Stream& stream, const Image& image, const HomogeneousMatrix& output_to_input,
               Image& output);
  /// The same with one transform for each array: `images.count` transforms.
  void execute(Stream& stream, const Image& image,
               std::span<const HomogeneousMatrix> output_to_input, Image& output);
  /// Evaluates at the points of a coordinate field (see InterpolatePlan).
  void execute(Stream& stream, const Image& image, const Image& coordinates, Image& output);

 private:
  void run(Stream& stream, const Image& image, std::span<const HomogeneousMatrix> transforms,
           Image& output);
  void check(Stream& stream, const Image& image, const Image& output) const;
  const Image& loaded(Stream& stream, const Image& image) const;
  const Image& coefficients_of(Stream& stream, const Image& loaded);

  friend class TransformWarpPlan;

  Device device_;
  ResampleSpec spec_;
  std::shared_ptr<backend::Resample> kernel_;  ///< null unless a single kernel does both steps
  InterpolatePlan interpolate_;
  std::optional<PrefilterPlan> prefilter_;
  std::optional<Image> coefficients_;
  std::shared_ptr<detail::ConvertedInput> converted_input_;
  std::shared_ptr<detail::ConvertedOutput> converted_output_;
};

}  // namespace warpalign

// Stage: phase correlation, which finds the shift between two images.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <memory>

namespace warpalign {

/// What a PhaseCorrelationPlan is made for.
struct PhaseCorrelationSpec {
  Shape shape;  ///< of both images; depth 1
  /// Standard deviation of a Gaussian weight exp(-rho^2 / (2 sigma^2)) on the frequency rho, in
  /// units of the Nyquist frequency; 0: no weight. A weight makes the peak wider and less sensitive
  /// to noise.
  float sigma = 0;
};

/// The peak of a phase correlation.
struct CorrelationPeak {
  /// In pixels, to a fraction of one: reference(x) = moving(x - shift), with the images continued
  /// periodically. At most half the image's size in either direction.
  Point shift;
  double height = 0;  ///< 1 for identical images
  /// The height in standard deviations of the surface of unrelated images. Among N independent
  /// pixels of such a surface the largest is near sqrt(2 ln N): 5 at 512 x 512.
  double deviations = 0;
};

/// The inverse transform of the normalised cross-power spectrum of two images (registration paper,
/// equations 3 and 4), and its peak. The images are taken as they are: where they do not continue
/// periodically, multiply them by a window first.
///
/// The constructor throws Error(invalid_argument) for a wrong spec, and Error(build_failed) where a
/// kernel cannot be compiled. Executions throw Error(invalid_argument) for images of another
/// device, type or shape, before anything is enqueued.
class WARPALIGN_API PhaseCorrelationPlan {
 public:
  /// Throws Error(invalid_argument) unless the depth is 1 and sigma is finite and not negative.
  PhaseCorrelationPlan(const Device& device, const PhaseCorrelationSpec& spec);
  PhaseCorrelationPlan(PhaseCorrelationPlan&&) noexcept;
  PhaseCorrelationPlan& operator=(PhaseCorrelationPlan&&) noexcept;
  ~PhaseCorrelationPlan();

  /// Enqueues the correlation of two f32 images. `surface` (f32, of the images' shape) has the
  /// shift (x, y) at column x mod width and row y mod height, with values up to 1. The plan's own
  /// memory holds spectra meanwhile: finish a stream before the plan is used on another.
  void execute(Stream& stream, const Image& reference, const Image& moving, Image& surface) const;
  /// The peak of what execute() enqueued last. Waits for that, but not for work that was enqueued
  /// after it. The fraction of a pixel is the vertex of the parabola through the maximum and its
  /// two neighbours along each axis. Throws Error(invalid_argument) before the first execute().
  [[nodiscard]] CorrelationPeak find_peak() const;

 private:
  struct Steps;
  std::unique_ptr<Steps> steps_;
};

}  // namespace warpalign

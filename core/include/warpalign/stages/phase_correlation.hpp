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
  /// The shift in pixels, with subpixel precision: reference(x) = moving(x - shift), with both
  /// images continued periodically. At most half the image's size in either direction.
  Point shift;
  double height = 0;  ///< the value at the peak; 1 for identical images
  /// The height in standard deviations of the surface of unrelated images. Among N independent
  /// pixels of such a surface the largest is near sqrt(2 ln N): 5 at 512 x 512.
  double deviations = 0;
};

/// Computes the inverse transform of the normalised cross-power spectrum of two images
/// (registration paper, equations 3 and 4), and its peak. The plan applies no window: multiply
/// images that do not continue periodically by a window first.
///
/// The constructor throws Error(invalid_argument) for a wrong spec, and Error(build_failed) if a
/// kernel does not compile. Executions throw Error(invalid_argument) for images of another
/// device, type or shape, before anything is enqueued.
class WARPALIGN_API PhaseCorrelationPlan {
 public:
  /// Throws Error(invalid_argument) unless the depth is 1 and sigma is finite and not negative.
  PhaseCorrelationPlan(const Device& device, const PhaseCorrelationSpec& spec);
  PhaseCorrelationPlan(PhaseCorrelationPlan&&) noexcept;
  PhaseCorrelationPlan& operator=(PhaseCorrelationPlan&&) noexcept;
  ~PhaseCorrelationPlan();

  /// Enqueues the correlation of two f32 images. `surface` (f32, of the images' shape) receives the
  /// value for the shift (x, y) at column x mod width and row y mod height; values are at most 1.
  /// The plan keeps spectra in its own memory: finish a stream before you use the plan on another.
  void execute(Stream& stream, const Image& reference, const Image& moving, Image& surface) const;
  /// The peak of the last execute(). Waits for that execution, but not for work that was enqueued
  /// after it. The subpixel position is the vertex of the parabola through the maximum and its two
  /// neighbours along each axis. Throws Error(invalid_argument) before the first execute().
  [[nodiscard]] CorrelationPeak find_peak() const;

 private:
  struct Steps;
  std::unique_ptr<Steps> steps_;
};

}  // namespace warpalign

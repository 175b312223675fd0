// Stage: the Fourier transform of real images and volumes.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign {

namespace backend {
class RealFft;
}

/// The transforms that a plan supports. The plan compiles only these.
enum class FftDirections {
  both,     ///< forward and inverse
  forward,  ///< from images to spectra
  inverse   ///< from spectra to images
};

/// What a RealFftPlan is made for.
struct RealFftSpec {
  Shape shape;         ///< of the real images; in two dimensions `depth` is the number of images
                       ///< transformed at once
  int dimensions = 2;  ///< 2 for images, 3 for one volume
  FftDirections directions = FftDirections::both;  ///< which transforms are compiled

  /// Whether the forward transform is among the directions.
  [[nodiscard]] bool has_forward() const noexcept { return directions != FftDirections::inverse; }
  /// Whether the inverse transform is among the directions.
  [[nodiscard]] bool has_inverse() const noexcept { return directions != FftDirections::forward; }
  friend bool operator==(const RealFftSpec&, const RealFftSpec&) = default;
};

/// FFT between real images or a real volume (f32) and their half spectra (c32; Cooley & Tukey
/// 1965). The vendor's library, VkFFT, clFFT or kernels for CPUs compute it, under one contract.
///
/// The contract, for every backend and library:
/// - forward: F(u, v) = sum f(x, y) exp(-2 pi i (u x / width + v y / height)), in three dimensions
///   with w z / depth as a third term; inverse: the conjugate kernel. Neither is normalised, so
///   inverse(forward(f)) = width height f, or width height depth f for a volume.
/// - The half spectrum has shape (width / 2 + 1, height, depth), dense: u = 0 ... width / 2, and
///   v (and w) in the usual order 0, 1, ..., -1.
/// - forward preserves its input; inverse destroys it.
/// - Any size from 1 x 1 (x 1) up is supported, except that clFFT takes only sizes with prime
///   factors up to 13.
class WARPALIGN_API RealFftPlan {
 public:
  /// Throws Error(invalid_argument) for a shape or a number of dimensions that the library cannot
  /// transform, and Error(build_failed) if the library cannot create the plan.
  RealFftPlan(const Device& device, const RealFftSpec& spec);
  /// Enqueues the transform from `real` (f32) to `spectrum` (c32, of shape half_spectrum()). Throws
  /// Error(invalid_argument) if the plan does not support this direction, and for images of another
  /// type or shape.
  void forward(Stream& stream, const Image& real, Image& spectrum) const;
  /// Enqueues the inverse transform. Throws as forward() does.
  void inverse(Stream& stream, Image& spectrum, Image& real) const;

  /// The shape of the half spectrum of real images of shape `real`.
  [[nodiscard]] static Shape half_spectrum(const Shape& real) noexcept;

 private:
  Device device_;
  RealFftSpec spec_;
  std::shared_ptr<backend::RealFft> kernel_;
};

}  // namespace warpalign

// Stage: the normalised cross-power spectrum.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstdint>

namespace warpalign {

namespace backend {
class CrossPower;
}

struct CrossPowerSpec {
  Shape image;  ///< of the real images or volumes of the spectra
  /// Standard deviation of a Gaussian weight exp(-rho^2 / (2 sigma^2)) on the frequency rho, in
  /// units of the Nyquist frequency (rho^2 = (2u/width)^2 + (2v/height)^2, for volumes also
  /// + (2w/depth)^2); 0: no weight.
  float sigma = 0;
  /// Also write, as a second slice, the spectrum for the second image rotated by 180 degrees (its
  /// spectrum conjugated). Not for volumes.
  bool with_rotated_180 = false;
  /// The numbers of spectra that are stacked along the depth of the first and the second input.
  /// They must be equal, or one of them 1: a single spectrum is combined with each of the other
  /// input. `with_rotated_180` requires 1 and 1.
  std::int64_t first_images = 1, second_images = 1;
};

/// Computes the spectrum of phase correlation, w A conj(B) / |A conj(B)|, and 0 if the denominator
/// vanishes (registration paper, equation 4). Its unnormalised inverse transform has a peak at d if
/// a(x) = b(x - d). Inputs are c32 of shape (width / 2 + 1, height, depth). The output has the same
/// shape; with `with_rotated_180` it has depth 2, and slice 1 is w A B / |A B|. For stacks of
/// images, the output is the stack of the spectra of all pairs.
class WARPALIGN_API CrossPowerPlan {
 public:
  CrossPowerPlan(const Device& device, const CrossPowerSpec& spec);
  void execute(Stream& stream, const Image& a, const Image& b, Image& output) const;

  /// The sum of the weights over the full spectrum, which is the height of the inverse transform's
  /// peak for identical images.
  [[nodiscard]] static double total_weight(const CrossPowerSpec& spec);
  /// The sum of the squared weights over the full spectrum. Its square root is the standard
  /// deviation of the inverse transform's values for unrelated images.
  [[nodiscard]] static double total_squared_weight(const CrossPowerSpec& spec);

 private:
  Device device_;
  CrossPowerSpec spec_;
  std::shared_ptr<backend::CrossPower> kernel_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The number of pairs of images.
[[nodiscard]] inline std::int64_t images_of(const CrossPowerSpec& spec) noexcept {
  return spec.first_images > spec.second_images ? spec.first_images : spec.second_images;
}

class CrossPower : public Stage {
 public:
  using Setup = CrossPowerSpec;

  virtual void enqueue(Queue& queue, const Memory& a, const Memory& b, Memory& output) = 0;
};

}  // namespace warpalign::backend

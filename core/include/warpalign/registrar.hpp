// Registration: the rotation, scale and translation between two images.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/stages/apodize.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace warpalign {

struct RegistrationOptions {
  Window window = Window::hann;    ///< applied to the gradient images before the FFT
  float spectrum_exponent = 0.3F;  ///< power of the spectrum magnitude; the paper's is 1
  float log_polar_sigma = 0.3F;    ///< Gaussian weight of the log-polar correlation, in units of
                                   ///< the Nyquist frequency; 0: none, as in the paper
  float translation_sigma = 0;     ///< likewise of the translation's correlation
  bool collect_timings = false;    ///< fill RegistrationResult::timings (device time; slower)
};

/// Device time of one stage of the pipeline.
struct StageTiming {
  std::string stage;
  double milliseconds = 0;
};

struct RegistrationResult {
  bool reliable = false;         ///< whether `confidence` is at least 0.5
  double confidence = 0;         ///< 0 to 1, see docs/registration.md
  Similarity similarity;         ///< reference to moving, in the terms of geometry.hpp
  Affine matrix;                 ///< reference pixel coordinates -> moving pixel coordinates
  double peak_height = 0;        ///< of the translation's phase correlation; 1: identical images
  double peak_significance = 0;  ///< the same, in standard deviations of unrelated images'
  std::vector<StageTiming> timings;  ///< in order of first use; empty unless asked for
};

/// Registers moving images to a reference by FFT: Sobel gradient, log-polar spectra, phase
/// correlation, inverse rotation and scaling, phase correlation (registration paper, sections 2
/// and 4). Keeps plans, scratch memory and the reference's spectra between calls.
///
/// Images may differ in size and type (u8, u16, f32); both are placed on one common canvas at
/// their own pixel scale. Each side must be 16 to 16384 pixels.
class WARPALIGN_API Registrar {
 public:
  explicit Registrar(const Device& device, const RegistrationOptions& options = {});
  Registrar(Registrar&&) noexcept;
  Registrar& operator=(Registrar&&) noexcept;
  ~Registrar();

  /// Takes the reference; its pixels are not needed afterwards. Throws Error(invalid_argument) for
  /// a wrong type or size, Error(invalid_image) when it is constant or holds NaN or infinities;
  /// there is no reference then.
  void set_reference(const HostImage& reference);
  void set_reference(const Image& reference);

  /// Finds where the reference's pixels are in `moving`. Throws as set_reference does, and
  /// Error(invalid_argument) when there is no reference yet. An unreliable result is a result,
  /// not an error.
  [[nodiscard]] RegistrationResult align(const HostImage& moving);
  [[nodiscard]] RegistrationResult align(const Image& moving);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One pair, once: set_reference and align on a fresh Registrar.
[[nodiscard]] WARPALIGN_API RegistrationResult
register_images(const Device& device, const HostImage& reference, const HostImage& moving,
                const RegistrationOptions& options = {});

}  // namespace warpalign

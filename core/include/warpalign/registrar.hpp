// Registration: the rotation, scale and translation between two images.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/window.hpp>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warpalign {

struct BatchResult;
struct HostPair;

/// What may differ between the pictures.
enum class Motion {
  similarity,  ///< rotation, scale and translation
  rigid,       ///< rotation and translation; the scale is 1
  rotation,    ///< rotation about the centres alone
  translation  ///< translation alone
};

/// What the log-polar spectra are of.
enum class SpectrumOf {
  grey_levels,
  gradient  ///< the Sobel gradient magnitude, as in the registration paper
};

struct RegistrationOptions {
  /// The registration paper's pipeline: one canvas, one peak to a fraction of a pixel, no
  /// verification, no refinement; any rotation, scales of about 0.5 to 2, shifts up to half the
  /// canvas. Takes none of the options marked (*).
  bool fast = false;

  bool refine = true;                  ///< to thousandths of a pixel, at full resolution
  Motion motion = Motion::similarity;  ///< (*)
  double min_scale = 0.2;              ///< (*) of Similarity::scale
  double max_scale = 5;
  double min_angle = -180;  ///< (*) of Similarity::rotation_deg, modulo 360
  double max_angle = 180;
  double max_shift = 0;  ///< (*) of Similarity::translation's length, in pixels; 0: any
  int candidates = 1;    ///< (*) 1 to 10: with more, RegistrationResult::runners_up is filled and
                         ///< the search does not stop at the first candidate beyond doubt
  SpectrumOf spectrum = SpectrumOf::grey_levels;  ///< (*); the fast pipeline takes gradients

  Window window = Window::hann;    ///< applied before the FFT
  float spectrum_exponent = 0.3F;  ///< power of the spectrum magnitude; the paper's is 1
  float log_polar_sigma = 0.3F;    ///< Gaussian weight of the log-polar correlation, in units of
                                   ///< the Nyquist frequency; 0: none, as in the paper
  bool collect_timings = false;    ///< fill RegistrationResult::timings (device time; slower)
};

/// Device time of one stage of the pipeline.
struct StageTiming {
  std::string stage;
  double milliseconds = 0;
};

/// One way in which the pictures may lie on one another.
struct Registered {
  double confidence = 0;  ///< 0 to 1, see docs/registration.md
  Similarity similarity;  ///< reference to moving, in the terms of geometry.hpp
  Affine matrix;          ///< reference pixel coordinates -> moving pixel coordinates
  /// Normalised correlation of the locally normalised pictures over what they have in common; of
  /// the fast pipeline: height of the translation's phase correlation, 1 for identical images.
  double correlation = 0;
  /// atanh(correlation) sqrt(coarse pixels in common); of the fast pipeline: the height in standard
  /// deviations of unrelated images'.
  double significance = 0;
  double overlap = 0;    ///< part of the reference in common, 0 to 1; the fast pipeline leaves 0
  bool refined = false;  ///< whether the refinement at full resolution settled
};

struct RegistrationResult : Registered {
  bool reliable = false;               ///< whether `confidence` is at least 0.5
  std::vector<Registered> runners_up;  ///< the next best, not refined; see
                                       ///< RegistrationOptions::candidates
  std::vector<StageTiming> timings;    ///< in order of first use; empty unless asked for
};

/// Registers moving images to a reference: rotation and scale from log-polar spectra (registration
/// paper, sections 2 and 4) at several base scales, translation by correlation over the overlap,
/// then Gauss-Newton on the spline of one picture, robust to light and to what does not fit
/// (docs/registration.md). Keeps plans, scratch memory and the reference between calls.
///
/// Images may differ in size and type (u8, u16, f32). Each side must be 16 to 16384 pixels.
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
  /// `mask`: u8, of the reference's shape, 0 where a pixel does not count (it may hold anything).
  void set_reference(const HostImage& reference, const HostImage& mask);

  /// Finds where the reference's pixels are in `moving`. Throws as set_reference does, and
  /// Error(invalid_argument) when there is no reference yet. An unreliable result is a result,
  /// not an error.
  [[nodiscard]] RegistrationResult align(const HostImage& moving);
  [[nodiscard]] RegistrationResult align(const Image& moving);
  [[nodiscard]] RegistrationResult align(const HostImage& moving, const HostImage& mask);

  /// Many pairs in one call, on a Registrar for each stream: see batch.hpp, which has more to say.
  [[nodiscard]] static std::vector<BatchResult> align_batch(
      std::span<const Device> devices, std::span<const HostPair> pairs,
      const RegistrationOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One pair, once: set_reference and align on a fresh Registrar.
[[nodiscard]] WARPALIGN_API RegistrationResult
register_images(const Device& device, const HostImage& reference, const HostImage& moving,
                const RegistrationOptions& options = {});

}  // namespace warpalign

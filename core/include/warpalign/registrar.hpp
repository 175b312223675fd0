// Registration: the rotation, scale and translation between two images.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/window.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace warpalign {

struct BatchResult;
class Event;
struct HostPair;

/// The transforms that are allowed between the images.
enum class Motion {
  similarity,   ///< rotation, scale and translation
  rigid,        ///< rotation and translation; the scale is 1
  rotation,     ///< rotation about the centres only
  translation,  ///< translation only
  affine,       ///< parallel lines stay parallel: two more parameters than a similarity
  homography,   ///< straight lines stay straight, as between views of a plane or from one place
  automatic     ///< a similarity, or affine or a homography where that explains the pair
                ///< significantly better (docs/registration.md)
};

/// Whether the same things look alike in both images.
enum class Modality {
  same,      ///< but for brightness and contrast: grey levels are compared
  other,     ///< contrast may be reversed or unrelated, as between MRI weightings, stains, infrared
             ///< and visible light, or a map and a photograph: directions of edges are compared
  automatic  ///< the second where the first leads to nothing reliable, or to less
};

/// How much is tried where a pair is difficult.
enum class Effort {
  fast,      ///< log-polar spectra only
  standard,  ///< one after the other, until a result is convincing
  thorough   ///< all that there is, on finer grids; takes several times as long
};

/// What finds places where the images may agree.
enum class Generator {
  shifts,          ///< the correlation of the images as they are, for Motion::translation
  log_polar,       ///< peaks of the correlation of log-polar spectra
  grid,            ///< all rotations and scales, at low resolution
  windows,         ///< windows of the reference that are found in the moving image
  gradient_field,  ///< all rotations and scales of the directions of edges, for Modality::other
  features         ///< local features of both images in simulated views, for homographies
};

/// Generators in the order in which they were used first, each once.
class Generators {
 public:
  /// Adds one that is not there yet. There is a place for each, so this never fails.
  void add(Generator generator) noexcept {
    if (!contains(generator)) list_[count_++] = generator;
  }
  /// Leaves none.
  void clear() noexcept { count_ = 0; }
  /// Whether this one was used.
  [[nodiscard]] bool contains(Generator generator) const noexcept {
    return std::find(begin(), end(), generator) != end();
  }
  /// How many were used.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// The first of them.
  [[nodiscard]] const Generator* begin() const noexcept { return list_.data(); }
  /// Behind the last of them.
  [[nodiscard]] const Generator* end() const noexcept { return list_.data() + count_; }

 private:
  std::array<Generator, 6> list_{};
  std::size_t count_ = 0;
};

/// The signal of which the log-polar spectra are computed.
enum class SpectrumOf {
  grey_levels,  ///< the pixels themselves
  gradient      ///< the Sobel gradient magnitude, as in the registration paper
};

/// How images are registered, and which transforms are searched.
struct RegistrationOptions {
  /// For max_threads: as many threads as the device makes use of.
  static constexpr int automatic_threads = 0;
  /// The most threads that max_threads allows, the calling thread included.
  static constexpr int thread_limit = 16;
  /// The largest ratio of scales that can be asked for, in either direction.
  static constexpr double max_scale_ratio = 8;

  /// Whether to use the registration paper's pipeline: one padded frame, one peak located to a
  /// fraction of a pixel, no verification and no refinement. It finds any rotation, scales of about
  /// 0.5 to 2, and shifts up to half the padded frame. The options marked (*) must then keep their
  /// defaults.
  bool fast = false;

  bool refine = true;  ///< refine the result to thousandths of a pixel, at full resolution
  /// (*) Which transforms are allowed. Limits of what it keeps fixed are refused: of the scale of
  /// rigid motions, rotations and translations, the angle of translations, the shift of rotations.
  Motion motion = Motion::similarity;
  Modality modality = Modality::same;  ///< (*) whether the same things look alike in both images
  Effort search = Effort::standard;    ///< (*) how much is tried where a pair is difficult
  double min_scale = 0.125;  ///< (*) the smallest Similarity::scale to search, 1/8 or more
  double max_scale = 8;      ///< (*) the largest Similarity::scale to search, 8 or less
  double min_angle = -180;   ///< (*) of Similarity::rotation_deg, in degrees, modulo 360
  double max_angle = 180;    ///< (*) likewise in degrees, at most 360 above min_angle
  double max_shift = 0;      ///< (*) of the length of Similarity::translation, in pixels; 0: any
  int candidates = 1;  ///< (*) 1 to 10; with more than 1, RegistrationResult::runners_up is filled
                       ///< and the search does not stop at the first candidate beyond doubt
  /// (*) Translations and Modality::other need no spectrum; the fast pipeline uses gradients.
  SpectrumOf spectrum = SpectrumOf::grey_levels;

  Window window = Window::hann;    ///< applied before the FFT
  float spectrum_exponent = 0.3F;  ///< power of the spectrum's magnitude; 1 in the paper
  float log_polar_sigma = 0.3F;    ///< standard deviation of the Gaussian weight of the log-polar
                                   ///< correlation, in units of the Nyquist frequency; 0: no
                                   ///< weight, as in the paper
  bool collect_timings = false;    ///< fill RegistrationResult::timings (device time; slower)
  /// How many threads a registrar may use, the calling thread included: 1 (the calling thread
  /// alone) to thread_limit, or automatic_threads. If the system has fewer, the search
  /// takes longer. Results do not depend on it.
  int max_threads = automatic_threads;
};

/// Device time of one stage of the pipeline.
struct StageTiming {
  std::string stage;        ///< the stage's name, such as "fft"
  double milliseconds = 0;  ///< device time of all its executions, in milliseconds
};

/// A result against what wrong places reach by chance (docs/registration.md).
struct ChanceComparison {
  double deviations = 0;  ///< by how many standard deviations the correlation differs from 0
  double by_chance = 0;   ///< what the best of all wrong places reaches once in 10 000 searches
  double rival = 0;       ///< deviations of the best other place that was found, as a fraction
};

/// One possible alignment of the two images.
struct Registered {
  /// The motion that `homography` is of. With Motion::automatic it is the one that was chosen. A
  /// similarity where affine or homography was asked for means that these could not be fitted: the
  /// fit diverged, or mapped points of the reference to infinity.
  Motion motion = Motion::similarity;
  double confidence = 0;  ///< 0 to 1, see docs/registration.md
  /// From the reference to the moving image, see geometry.hpp. Of an affine transform or a
  /// homography it is the nearest similarity about the reference's centre.
  Similarity similarity;
  Affine matrix;  ///< reference pixel coordinates -> moving pixel coordinates; of a homography,
                  ///< what agrees with it to first order about the reference's centre
  Homography
      homography;  ///< the same whatever the motion is; equal to `matrix` but for a homography
  /// The normalised correlation of the locally normalized images over their overlap; in the fast
  /// pipeline, the height of the translation's phase correlation, 1 for identical images.
  double correlation = 0;
  /// atanh(correlation) sqrt(coarse pixels in common); in the fast pipeline, the height of the peak
  /// in standard deviations of the correlation of unrelated images.
  double significance = 0;
  double overlap = 0;    ///< fraction of the reference in common, 0 to 1; 0 in the fast pipeline
  bool refined = false;  ///< whether the refinement at full resolution converged
  Modality modality = Modality::same;            ///< what was compared; never automatic
  Generator proposed_by = Generator::log_polar;  ///< what found the place
  /// Empty for what is beyond doubt without, and for the fast pipeline.
  std::optional<ChanceComparison> chance;
};

/// The best alignment of the two images, and whether it can be relied on.
struct RegistrationResult : Registered {
  bool reliable = false;  ///< whether `confidence` is at least 0.5
  /// Whether the images match at other shifts about as well as here, which alone keeps the
  /// confidence below 0.5. Of shifts that match equally well this is the smallest, and others are
  /// runners-up, whatever RegistrationOptions::candidates says.
  bool ambiguous = false;
  /// Of an ambiguous result: the vectors by which the texture repeats itself, in pixels of the
  /// reference, the shortest first: two for a lattice, one for stripes, none if it does not repeat.
  std::vector<Point> period;
  /// Of an ambiguous result: the direction, a unit vector in the reference, along which structure
  /// such as parallel lines leaves the shift open.
  std::optional<Point> undetermined_direction;
  std::vector<Registered> runners_up;  ///< the next best alignments, not refined; see
                                       ///< RegistrationOptions::candidates
  std::vector<StageTiming> timings;    ///< in order of first use; empty unless requested
  Generators tried;                    ///< what has looked for places, in order of first use
  double places_searched = 0;          ///< how many independent wrong places (coordinates, angles
                                       ///< and scales) the search might have taken for the right
                                       ///< one; 0 for the fast pipeline
};

/// Registers moving images to a reference: rotation and scale from log-polar spectra (registration
/// paper, sections 2 and 4) at several base scales, translation by correlation over the overlap,
/// then Gauss-Newton refinement on the spline of one image, robust to illumination and to outliers
/// (docs/registration.md). Keeps plans, scratch memory and the reference between calls.
///
/// Images may differ in size and type (any but c32). Each side must be 16 to 16384 pixels.
///
/// If the device runs several queues at the same time, as CUDA's do, and no other registrar of the
/// process is at work, a registrar searches pairs that log-polar spectra alone do not settle on
/// threads of its own: RegistrationOptions::max_threads limits them. Results do not depend on it.
///
/// Every call may throw Error(out_of_memory), Error(build_failed) where a kernel cannot be
/// compiled, and Error(device_failure).
class WARPALIGN_API Registrar {
 public:
  /// Makes what all registrations need. Throws Error(invalid_argument) for options that are out of
  /// range or contradict each other.
  explicit Registrar(const Device& device, const RegistrationOptions& options = {});
  Registrar(Registrar&&) noexcept;
  Registrar& operator=(Registrar&&) noexcept;
  ~Registrar();

  /// Sets the reference; its pixels are not needed afterwards. Throws Error(invalid_argument) for
  /// a wrong type or size, Error(invalid_image) when the image is constant or holds NaN or
  /// infinities; no reference is set then.
  void set_reference(const HostImage& reference);
  void set_reference(const Image& reference);
  /// `mask`: u8, of the reference's shape, 0 where a pixel does not count (such a pixel may hold
  /// any value).
  void set_reference(const HostImage& reference, const HostImage& mask);

  /// Finds where the reference's pixels are in `moving`. Throws as set_reference does, and
  /// Error(invalid_argument) when no reference is set. An unreliable result is returned, not
  /// thrown.
  [[nodiscard]] RegistrationResult align(const HostImage& moving);
  [[nodiscard]] RegistrationResult align(const Image& moving);
  /// `mask`: u8, of the moving image's shape, 0 where a pixel does not count.
  [[nodiscard]] RegistrationResult align(const HostImage& moving, const HostImage& mask);

  /// The device's work of later calls begins after the event (interop.hpp): for images that another
  /// stream is still computing.
  void wait_for(const Event& event);

  /// Registers many pairs in one call, with a Registrar for each stream; see batch.hpp, which also
  /// offers more control.
  [[nodiscard]] static std::vector<BatchResult> align_batch(
      std::span<const Device> devices, std::span<const HostPair> pairs,
      const RegistrationOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Registers a single pair: set_reference and align on a new Registrar. Throws as these do.
[[nodiscard]] WARPALIGN_API RegistrationResult
register_images(const Device& device, const HostImage& reference, const HostImage& moving,
                const RegistrationOptions& options = {});

}  // namespace warpalign

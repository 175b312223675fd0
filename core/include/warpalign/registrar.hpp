// Registration: the rotation, scale and translation between two images.
#pragma once

#include <warpalign/deformation.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/window.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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

/// The family of transforms that a registration may return.
enum class Motion {
  similarity,   ///< rotation, scale and translation
  rigid,        ///< rotation and translation; the scale is 1
  rotation,     ///< rotation about the centres only
  translation,  ///< translation only
  affine,       ///< affine transform: parallel lines stay parallel; 6 parameters
  homography,   ///< straight lines stay straight, as between two views of a plane, or two views
                ///< from the same camera position; 8 parameters
  automatic,    ///< a similarity, unless an affine transform or a homography explains the pair
                ///< significantly better (docs/registration.md)
  deformable    ///< an affine transform, followed by a smooth deformation: RegistrationResult::
                ///< deformation. Other results describe the affine transform
};

/// How the intensities of the two images are related.
enum class Modality {
  same,   ///< equal up to brightness and contrast; the search compares intensities
  other,  ///< reversed or unrelated contrast, as between MRI weightings, stains, infrared and
          ///< visible light, or a map and a photograph; the search compares gradient orientations
  automatic  ///< compares intensities first, then gradient orientations if the first result is not
             ///< reliable; returns the result with the higher confidence
};

/// How much time the search may spend on a difficult pair.
enum class Effort {
  fast,      ///< log-polar spectra only
  standard,  ///< one proposer after the other, until a result is conclusive
  thorough   ///< all proposers, on finer grids; takes several times as long
};

/// A part of the search that proposes candidate transforms.
enum class SearchMethod {
  shifts,                ///< cross-correlation without rotation or scaling, for Motion::translation
  log_polar,             ///< peaks of the correlation of log-polar spectra
  grid,                  ///< all rotations and scales of a grid, at low resolution
  patches,               ///< template matching of patches of the reference in the moving image
  gradient_orientation,  ///< a grid of rotations and scales, by gradient orientation, for
                         ///< Modality::other
  features,              ///< matches of local features in simulated views, for homographies
  points,                ///< point sources of sparse images, such as stars, on which both agree
  initial                ///< the transform of Registrar::set_initial()
};

/// A set of proposers in the order of their first use.
class SearchMethods {
 public:
  /// Adds a proposer, unless the set contains it already.
  void add(SearchMethod proposer) noexcept {
    if (!contains(proposer)) list_[count_++] = proposer;
  }
  /// Empties the set.
  void clear() noexcept { count_ = 0; }
  /// Whether the set contains this proposer.
  [[nodiscard]] bool contains(SearchMethod proposer) const noexcept {
    return std::find(begin(), end(), proposer) != end();
  }
  /// The number of proposers in the set.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// Points to the first proposer.
  [[nodiscard]] const SearchMethod* begin() const noexcept { return list_.data(); }
  /// Points one past the last proposer.
  [[nodiscard]] const SearchMethod* end() const noexcept { return list_.data() + count_; }

 private:
  std::array<SearchMethod, 8> list_{};
  std::size_t count_ = 0;
};

/// The signal whose spectra are resampled to log-polar coordinates.
enum class SpectrumSignal {
  intensity,  ///< the intensities
  gradient    ///< the Sobel gradient magnitude, as in the registration paper
};

/// Options of a registration: the allowed transforms, their limits, and the effort.
struct RegistrationOptions {
  /// The value of max_threads that uses as many threads as the device benefits from.
  static constexpr int automatic_threads = 0;
  /// The largest value of max_threads. It counts the calling thread.
  static constexpr int thread_limit = 16;
  /// The largest allowed max_scale, and the reciprocal of the smallest allowed min_scale.
  static constexpr double max_scale_ratio = 8;
  /// The grid_spacing that depends on the images: default_grid_spacing or fine_grid_spacing.
  static constexpr double automatic_grid_spacing = 0;
  /// The grid_spacing, in pixels, of images that differ by their noise only once it has been
  /// fitted.
  static constexpr double default_grid_spacing = 5;
  /// The grid_spacing, in pixels, of images that differ by more.
  static constexpr double fine_grid_spacing = 2;
  /// The smallest allowed grid_spacing: closer control points have too few pixels between them.
  static constexpr double min_grid_spacing = 2;
  static constexpr double min_bending_weight = 0.01;  ///< the smallest allowed bending_weight
  static constexpr double max_bending_weight = 100;   ///< the largest allowed bending_weight

  /// Use the pipeline of the registration paper: one padded frame, one peak located with subpixel
  /// precision, no verification and no refinement. It finds any rotation, scales of about 0.5 to 2,
  /// and shifts up to half the padded frame. With `fast`, the options marked (*) must keep their
  /// defaults.
  bool fast = false;

  bool refine = true;  ///< refine the result to thousandths of a pixel, at full resolution
  /// (*) The allowed transforms. A limit on a parameter that the motion fixes is an error: a scale
  /// limit for rigid, rotation and translation; an angle limit for translation; a shift limit for
  /// rotation.
  Motion motion = Motion::similarity;
  Modality modality = Modality::same;  ///< (*) how the intensities of the images are related
  Effort search = Effort::standard;    ///< (*) how much time a difficult pair may take
  double min_scale = 0.125;  ///< (*) the smallest Similarity::scale to search, 1/8 or more
  double max_scale = 8;      ///< (*) the largest Similarity::scale to search, 8 or less
  double min_angle = -180;   ///< (*) the smallest Similarity::rotation_deg, in degrees, modulo 360
  double max_angle = 180;    ///< (*) the largest, in degrees, at most 360 above min_angle
  double max_shift = 0;      ///< (*) the largest length of Similarity::translation in pixels;
                             ///< 0: unlimited
  double max_shift_x = 0;    ///< (*) the largest translation along x, in pixels; 0: unlimited
  double max_shift_y = 0;    ///< (*) the largest translation along y, in pixels; 0: unlimited
  int candidates = 1;  ///< (*) 1 to 10; if above 1, the search fills RegistrationResult::runners_up
                       ///< and does not stop at the first conclusive candidate
  /// (*) The signal of the log-polar spectra. Motion::translation and Modality::other ignore it;
  /// the fast pipeline uses the gradient.
  SpectrumSignal spectrum = SpectrumSignal::intensity;

  Window window = Window::hann;    ///< applied before the FFT
  float spectrum_exponent = 0.3F;  ///< power of the spectrum's magnitude; 1 in the paper
  float log_polar_sigma = 0.3F;    ///< standard deviation of the Gaussian weight of the log-polar
                                   ///< correlation, in units of the Nyquist frequency; 0: no
                                   ///< weight, as in the paper
  bool collect_timings = false;    ///< fill RegistrationResult::timings (device time; slower)
  /// How many threads a registrar may use, including the calling thread: 1 to thread_limit, or
  /// automatic_threads. The number of threads does not change the results. If the system provides
  /// fewer, the search takes longer.
  int max_threads = automatic_threads;
  /// (*) For Motion::deformable: the distance between control points of the B-spline, in pixels of
  /// the reference, min_grid_spacing or more, or automatic_grid_spacing: default_grid_spacing, but
  /// fine_grid_spacing if the images have the same modality and differ by more than their noise
  /// after a fit with the default, as those of two people do; the bending weight is then multiplied
  /// by 0.4. Finer grids follow smaller deformations, and need structure at that scale. In stacks
  /// and templates, automatic_grid_spacing is default_grid_spacing.
  /// Registrar::set_reference() refuses a reference whose sides are all shorter.
  double grid_spacing = automatic_grid_spacing;
  /// (*) For Motion::deformable: the weight of the bending energy against the mean correlation of
  /// windows, min_bending_weight to max_bending_weight. Larger weights make the field smoother and
  /// less exact (docs/howto/deform.md has measurements).
  double bending_weight = 0.5;
};

/// Device time of one stage of the pipeline.
struct StageTiming {
  std::string stage;        ///< the stage's name, such as "fft"
  double milliseconds = 0;  ///< device time of all its executions, in milliseconds
};

/// The null test of a result: its correlation compared with what wrong poses reach
/// (docs/registration.md).
struct NullTest {
  double z_score = 0;     ///< z-score: the correlation in units of its standard deviation
  double max_null_z = 0;  ///< the z-score that the best wrong pose exceeds once in 10 000 searches
  double second_best_ratio = 0;  ///< z-score of the best other pose, divided by that of this one
};

/// One possible alignment of the two images.
struct Alignment {
  /// The family of `homography`; Motion::automatic is replaced by the family that the model
  /// selection chose. If you requested affine or homography and get similarity, the fit of the
  /// requested model diverged, or mapped points of the reference to infinity.
  Motion motion = Motion::similarity;
  double confidence = 0;  ///< 0 to 1, see docs/registration-confidence.md
  /// From the reference to the moving image, see geometry.hpp. For an affine transform or a
  /// homography, the nearest similarity about the reference's centre.
  Similarity similarity;
  Affine matrix;  ///< from reference to moving pixel coordinates; for a homography, its first-order
                  ///< approximation about the reference's centre
  Homography homography;  ///< the result for every motion; equals `matrix` unless `motion` is
                          ///< Motion::homography
  /// The normalised correlation of the locally normalized images over their overlap; in the fast
  /// pipeline, the peak height of the phase correlation, which is 1 for identical images.
  double correlation = 0;
  /// atanh(correlation) sqrt(coarse pixels in the overlap); in the fast pipeline, the peak height
  /// in standard deviations of the correlation of unrelated images.
  double significance = 0;
  double overlap = 0;    ///< fraction of the reference that the moving image covers, 0 to 1; 0 in
                         ///< the fast pipeline
  bool refined = false;  ///< whether the refinement at full resolution converged
  Modality modality = Modality::same;  ///< same: intensities were compared; other: gradient
                                       ///< orientations; never automatic
  SearchMethod proposed_by = SearchMethod::log_polar;  ///< which proposer found this candidate
  /// The null test. Empty if the result is conclusive without it, and in the fast pipeline.
  std::optional<NullTest> null_test;
};

/// How many pixels or voxels of two images are NaN or infinite. A registration ignores them, as if
/// a mask excluded them; those that a mask excludes are not counted.
struct MissingPixels {
  std::int64_t reference = 0;  ///< of the reference
  std::int64_t moving = 0;     ///< of the moving image
};

/// The best alignment of the two images, and whether it is reliable.
struct RegistrationResult : Alignment {
  bool reliable = false;  ///< whether `confidence` is at least 0.5
  /// Whether the images match at other shifts about as well as here, which alone keeps the
  /// confidence below 0.5. Of shifts that match equally well this is the smallest, and others are
  /// runners-up, whatever RegistrationOptions::candidates says.
  bool ambiguous = false;
  /// Of an ambiguous result: the vectors by which the texture repeats itself, in pixels of the
  /// reference, the shortest first: two for a lattice, one for stripes, none if it does not repeat.
  std::vector<Point> period;
  /// With Motion::deformable, the transform of a reliable result; empty if the result is not
  /// reliable.
  std::optional<Deformation> deformation;
  /// Of an ambiguous result: the direction, a unit vector in the reference, along which structure
  /// such as parallel lines leaves the shift open.
  std::optional<Point> undetermined_direction;
  std::vector<Alignment> runners_up;  ///< the next best alignments, not refined; see
                                      ///< RegistrationOptions::candidates
  std::vector<StageTiming> timings;   ///< in order of first use; empty unless requested
  SearchMethods tried;                ///< the proposers that ran, in order of first use
  MissingPixels missing;              ///< the pixels that were ignored because they have no value
  /// The number of trials: how many independent poses (translations, rotations and scales) the
  /// search could have mistaken for the right one. 0 in the fast pipeline.
  double num_trials = 0;
};

/// What the frame before an image tells about its motion.
struct MotionPrior {
  Affine matrix;   ///< of the earlier frame: from reference to its pixel coordinates
  int frames = 1;  ///< how many frames later the image was taken; at least 1
};

/// Registers moving images to a reference: rotation and scale from log-polar spectra (registration
/// paper, sections 2 and 4) at several base scales, translation by correlation over the overlap,
/// then Gauss-Newton refinement on the spline of one image, robust to illumination and outliers
/// (docs/registration.md). A Registrar keeps plans, scratch memory and the reference between calls.
///
/// Images may differ in size and type (any but c32). Each side must be 16 to 16384 pixels.
///
/// If log-polar spectra alone are not conclusive for a pair, the registrar continues the search on
/// several threads, up to RegistrationOptions::max_threads. It does so only if the device runs
/// several queues concurrently, as CUDA devices do, and if no other registrar of the process is
/// running. The threads do not change the results.
///
/// Every call may throw Error(out_of_memory), Error(build_failed) if a kernel does not compile, and
/// Error(device_failure).
class WARPALIGN_API Registrar {
 public:
  /// Creates the plans and buffers that do not depend on the images. Throws
  /// Error(invalid_argument) for options that are out of range or contradict each other.
  explicit Registrar(const Device& device, const RegistrationOptions& options = {});
  Registrar(Registrar&&) noexcept;
  Registrar& operator=(Registrar&&) noexcept;
  ~Registrar();

  /// Sets the reference and copies what it needs, so the caller may free the pixels. Pixels that
  /// are NaN or infinite are ignored (RegistrationResult::missing). Throws Error(invalid_argument)
  /// for a wrong type or size, and Error(invalid_image) if the image is constant or without pixels
  /// to register; with RegistrationOptions::fast also for missing pixels.
  /// After an error the registrar has no reference.
  void set_reference(const HostImage& reference);
  void set_reference(const Image& reference);
  /// `mask`: u8, of the reference's shape, 0 where a pixel is ignored (such a pixel may have any
  /// value). On the same device as the reference.
  void set_reference(const HostImage& reference, const HostImage& mask);
  void set_reference(const Image& reference, const Image& mask);

  /// Makes all later calls of align() look for the answer near a transform from reference to moving
  /// pixel coordinates: a former result, or a rough estimate. If a fit that starts from it gives a
  /// reliable result, that is the answer, unless the point sources of two sparse images agree on
  /// one transform, which then is. Otherwise the registrar searches as without it. Of poses that
  /// match equally well, the one with the smallest displacement of the reference's corners from the
  /// initial transform is the answer, and is not ambiguous if it is clearly the nearest.
  ///
  /// With Motion::deformable and Modality::same, the initial transform, which must be affine, is
  /// taken as it is: only the deformation is searched for, and judged by the correlation that it
  /// reaches.
  ///
  /// Throws Error(invalid_argument) if the transform is singular, not finite, or mirrors the image,
  /// and with RegistrationOptions::fast. align() throws it if the transform maps no point of the
  /// reference into the moving image, or if the options exclude it.
  void set_initial(const Homography& initial);
  /// Makes later calls of align() search without an initial transform again.
  void clear_initial() noexcept;

  /// Finds the transform from the reference to `moving`. Throws as set_reference does, and
  /// Error(invalid_argument) if no reference is set. An unreliable result is not an error: check
  /// RegistrationResult::reliable.
  [[nodiscard]] RegistrationResult align(const HostImage& moving);
  [[nodiscard]] RegistrationResult align(const Image& moving);
  /// `mask`: u8, of the moving image's shape, 0 where a pixel is ignored.
  [[nodiscard]] RegistrationResult align(const HostImage& moving, const HostImage& mask);
  [[nodiscard]] RegistrationResult align(const Image& moving, const Image& mask);

  /// Passes what the frame before tells about the motion to later calls of align(). If the images
  /// match at several shifts, the answer is then the one nearest to the earlier frame's motion, and
  /// it is reliable if every other one is at least 3 `frames` times as far from it: an image that
  /// has moved by up to a quarter of a period since the frame before it is followed. Images that
  /// match at one shift do not depend on the prior. The fast pipeline ignores it, and so does a
  /// registrar with an initial transform. Throws Error(invalid_argument) for a matrix that is not
  /// finite, or less than one frame.
  void set_prior(const std::optional<MotionPrior>& prior);

  /// Makes the device work of later calls wait for the event (interop.hpp). Use it for images that
  /// another stream is still computing.
  void wait_for(const Event& event);

  /// Registers many pairs in one call, with one Registrar per stream. The functions of batch.hpp
  /// offer more control.
  [[nodiscard]] static std::vector<BatchResult> align_batch(
      std::span<const Device> devices, std::span<const HostPair> pairs,
      const RegistrationOptions& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Registers a single pair: calls set_reference and align on a new Registrar, and throws as they
/// do.
[[nodiscard]] WARPALIGN_API RegistrationResult
register_images(const Device& device, const HostImage& reference, const HostImage& moving,
                const RegistrationOptions& options = {});

}  // namespace warpalign

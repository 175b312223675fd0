// Estimates the similarities of a batch of frames, from coarse levels to full resolution.
#pragma once

#include "registration/frames/frame_fit.hpp"
#include "registration/frames/frame_scorer.hpp"
#include "registration/local/windows/peak_search.hpp"
#include "registration/pyramid/level_sampling.hpp"

#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/backend/stages/refinement/frame_sums.hpp>
#include <warpalign/backend/stages/spectrum/log_polar_spectra.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/interpolate.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// How many images there are: frames in a stack, and references in another one, which are 1 for all
/// frames or one for each.
struct StackSizes {
  std::int64_t frames = 1;
  std::int64_t references = 1;
};

/// Concurrent fits of the images of a stack to their references.
class StackFit {
 public:
  StackFit(const Device& device, const Shape& shape, const StackSizes& sizes, Motion motion);

  /// The fits, one for each image. Start those that run() should run.
  [[nodiscard]] std::span<FrameFit> fits() { return fits_; }
  /// Approximate means of an image and its reference.
  struct Means {
    double image = 0, reference = 0;
  };
  /// Runs until no fit is active. `means`: of each image; subtracted for precision. Waits for the
  /// device.
  void run(StageClock& clock, const Image& images, const Image& references,
           std::span<const Means> means);
  /// Whether the illumination is even relative to the reference (see even_illumination.hpp), by the
  /// last evaluation of the fit.
  [[nodiscard]] bool has_even_illumination(std::size_t image) const {
    return even_illumination_[image];
  }

 private:
  void evaluate(StageClock& clock, const Image& images, const Image& references,
                std::span<const Means> means);
  void step(std::size_t image);

  std::vector<FrameCell> cells_;
  FrameSumsPlan sums_;
  std::vector<FrameFit> fits_;
  std::vector<FrameState> states_;
  std::vector<FrameSums> results_;
  std::vector<ShiftSums> illumination_sums_;  // of one image's cells
  std::vector<char> even_illumination_;
};

/// A level of a stack of images that is coarser than the scoring level, after local normalization.
class CoarseLevels {
 public:
  /// `judged`: the shape of one image of the scoring level, from which this level is computed.
  /// `by_image`: as for ScoringLevels.
  CoarseLevels(const Device& device, const Shape& judged, std::int64_t side, std::int64_t images,
               bool by_image);

  [[nodiscard]] const Shape& shape() const { return level_; }
  [[nodiscard]] double spacing() const { return sampling_.spacing; }
  /// Pixels of this level -> pixels of the scoring level.
  [[nodiscard]] Affine to_judged() const { return level_to_image(judged_, sampling_); }
  /// `normalization`: one for all images, or one for each.
  const Image& run(StageClock& clock, const Image& judged,
                   std::span<const LocalLevels> normalization);
  [[nodiscard]] const Image& normalized() const { return normalized_; }

 private:
  Shape judged_;
  Sampling2d sampling_;
  Shape level_;
  SmoothPlan smooth_;
  LocalNormalizationPlan normalization_;
  Image values_, normalized_;
};

/// The spectra of the apodized images of one level.
class LevelSpectra {
 public:
  LevelSpectra(const Device& device, const Shape& level, std::int64_t images);
  void run(StageClock& clock, const Image& levels);
  [[nodiscard]] Image& spectra() { return spectra_; }
  [[nodiscard]] const Image& spectra() const { return spectra_; }

 private:
  CutWindowsPlan cut_;
  RealFftPlan fft_;
  Buffer means_;
  Image windows_, spectra_;
};

/// The peaks of the correlation of images with their references, from their spectra.
class SpectrumPeaks {
 public:
  /// `image`: the shape of each. `sigma`: as WindowCrossPowerSpec::sigma.
  SpectrumPeaks(const Device& device, const Shape& image, const StackSizes& sizes, float sigma);
  /// Returns a peak for each image, at d if the image is the reference shifted by d. The peaks stay
  /// valid until the next call. Overwrites the spectra. Waits for the device.
  std::span<const PeakRecord> run(StageClock& clock, const Image& references, Image& spectra);

 private:
  WindowCrossPowerPlan power_;
  RealFftPlan fft_;
  PeakPlan peak_;
  Image surfaces_;
  Buffer on_device_;
  std::vector<PeakRecord> records_;
};

/// Spectra of log-polar spectra, in which rotations and scales appear as shifts (Fourier-Mellin).
class PolarSpectra {
 public:
  PolarSpectra(const Device& device, const Shape& level, std::int64_t images);
  /// `spectra`: the spectra of images of the level.
  Image& run(StageClock& clock, const Image& spectra);
  /// The result of the last run.
  [[nodiscard]] const Image& spectra() const { return spectra_; }
  [[nodiscard]] static Shape grid() noexcept;

 private:
  LogPolarSpectraPlan log_polar_;
  RealFftPlan fft_;
  Image polar_, spectra_;
};

/// Proposes a start for the fit of each image of a level from the peaks of two correlations with
/// the reference: of the image itself, and of the image rotated and scaled as its log-polar
/// spectrum indicates.
class StartSearch {
 public:
  StartSearch(const Device& device, const Shape& level, const StackSizes& sizes, Motion motion);

  struct Start {
    SearchMethod found_by = SearchMethod::shifts;
    double height = 0;          ///< of the peak; 0 if there is none
    Affine image_to_reference;  ///< pixels of the level
  };

  void take_references(StageClock& clock, const Image& levels);
  /// Returns the start with the higher peak for each image, valid until the next call. Waits for
  /// the device.
  std::span<const Start> run(StageClock& clock, const Image& levels);

 private:
  void find_rotations(StageClock& clock);
  void take_better(std::span<const PeakRecord> peaks, SearchMethod found_by);

  Shape level_;
  Motion motion_;
  LevelSpectra references_, images_;
  PolarSpectra polar_references_, polar_images_;
  SpectrumPeaks peaks_, polar_peaks_;
  InterpolatePlan rotate_;
  Image rotated_;
  std::vector<Affine> rotations_;  // from the rotated image to the image
  std::vector<HomogeneousMatrix> transforms_;
  std::vector<Start> starts_;
};

/// The estimated similarity of a frame.
struct FrameSimilarity {
  bool found = false;              ///< whether the fit at full resolution has converged
  bool even_illumination = false;  ///< whether the illumination is even relative to the reference
  Affine frame_to_reference;       ///< where the frame's pixels lie on the reference
  SearchMethod found_by = SearchMethod::shifts;
};

/// Finds starts on a coarse level, then fits all frames at once on finer and finer levels.
class SimilaritySearch {
 public:
  /// `judged`: the shape of the scoring level, and `spacing` its pixel spacing. `sizes`: the
  /// maximum number of frames in one call, and of references.
  SimilaritySearch(const Device& device, const Shape& frame, const Shape& judged, double spacing,
                   const StackSizes& sizes, Motion motion);

  /// `pixels`: the references, f32, which must stay until the next call. `judged`: has their
  /// levels.
  void take_references(StageClock& clock, const Image& pixels, const FrameLevels& judged);
  /// Estimates the similarities of the first `count` frames of a stack, f32. `judged`: has their
  /// levels. The result stays valid until the next call. Waits for the device.
  std::span<const FrameSimilarity> run(StageClock& clock, const Image& frames, FrameLevels& judged,
                                       std::size_t count);

 private:
  void fit_on(StageClock& clock, CoarseLevels& levels, const Image& references, StackFit& fit,
              const FrameFitLimits& limits);
  void fit_frames(StageClock& clock, const Image& frames, FrameLevels& judged);

  Shape frame_;
  Affine judged_to_frame_;
  CoarseLevels medium_references_, coarse_references_, medium_, coarse_;
  StartSearch starts_;
  StackFit medium_fit_, coarse_fit_, fit_;
  const Image* references_ = nullptr;
  std::vector<StackFit::Means> means_, no_means_;
  std::vector<FrameSimilarity> found_;
};

}  // namespace warpalign::detail

// The similarities of a batch of frames, from coarse levels to full resolution.
#pragma once

#include "registration/frames/frame_fit.hpp"
#include "registration/frames/frame_judge.hpp"
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

/// Fits that go on together, each between one of the images of a stack and the reference.
class StackFit {
 public:
  /// For `images` images of this shape at once.
  StackFit(const Device& device, const Shape& shape, std::int64_t images, Motion motion);

  /// The fits, one for each image; those that are to take part must have been started.
  [[nodiscard]] std::span<FrameFit> fits() { return fits_; }
  /// Goes on until none is active. `means`: about those of the images, for precision. Waits for the
  /// device.
  void run(StageClock& clock, const Image& images, const Image& reference,
           std::span<const double> means, double reference_mean);
  /// Whether the image is lit like the reference everywhere, by the last evaluation of its fit.
  [[nodiscard]] bool is_evenly_lit(std::size_t image) const { return evenly_lit_[image]; }

 private:
  void evaluate(StageClock& clock, const Image& images, const Image& reference,
                std::span<const double> means, double reference_mean);
  void step(std::size_t image);

  std::vector<FrameCell> cells_;
  FrameSumsPlan sums_;
  std::vector<FrameFit> fits_;
  std::vector<FrameState> states_;
  std::vector<FrameSums> results_;
  std::vector<ShiftSums> light_;  // of one image's cells
  std::vector<char> evenly_lit_;
};

/// A level coarser than that on which frames are judged, of a stack of images, and normalized
/// locally.
class CoarseLevels {
 public:
  /// `judged`: the shape of one image that a level is made of.
  CoarseLevels(const Device& device, const Shape& judged, std::int64_t side, std::int64_t images);

  [[nodiscard]] const Shape& shape() const { return level_; }
  [[nodiscard]] double spacing() const { return sampling_.spacing; }
  /// Pixels of this level -> pixels of the level that it is made of.
  [[nodiscard]] Affine to_judged() const { return level_to_image(judged_, sampling_); }
  /// `as`: of the reference.
  const Image& run(StageClock& clock, const Image& judged, const GreyLevels& as);
  [[nodiscard]] const Image& normalized() const { return normalized_; }

 private:
  Shape judged_;
  Sampling2d sampling_;
  Shape level_;
  SmoothPlan smooth_;
  LocalNormalizationPlan normalization_;
  Image values_, normalized_;
};

/// Images of one level, apodized and transformed.
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

/// The peaks of the correlation of images with a reference, from their spectra.
class SpectrumPeaks {
 public:
  /// `image`: the shape of each. `sigma`: as WindowCrossPowerSpec::sigma.
  SpectrumPeaks(const Device& device, const Shape& image, std::int64_t images, float sigma);
  /// One for each image, at d where it is the reference shifted by d; valid until the next call.
  /// Overwrites the spectra. Waits for the device.
  std::span<const PeakRecord> run(StageClock& clock, const Image& reference, Image& spectra);

 private:
  WindowCrossPowerPlan power_;
  RealFftPlan fft_;
  PeakPlan peak_;
  Image surfaces_;
  Buffer on_device_;
  std::vector<PeakRecord> records_;
};

/// Spectra of log-polar spectra, by which rotations and scales are found as shifts (registration
/// paper, section 2).
class PolarSpectra {
 public:
  PolarSpectra(const Device& device, const Shape& level, std::int64_t images);
  /// `spectra`: of images of the level.
  Image& run(StageClock& clock, const Image& spectra);
  /// Of the last run.
  [[nodiscard]] const Image& spectra() const { return spectra_; }
  [[nodiscard]] static Shape grid() noexcept;

 private:
  LogPolarSpectraPlan log_polar_;
  RealFftPlan fft_;
  Image polar_, spectra_;
};

/// Where each of the images of a level may lie on the reference's level, by the peaks of
/// correlations: as it is, or turned and scaled as its log-polar spectrum says.
class StartSearch {
 public:
  StartSearch(const Device& device, const Shape& level, std::int64_t images, Motion motion);

  struct Start {
    Generator found_by = Generator::shifts;
    double height = 0;          ///< of the peak; above 0 where there is any
    Affine image_to_reference;  ///< pixels of the level
  };

  void take_reference(StageClock& clock, const Image& level);
  /// The better one for each image; valid until the next call. Waits for the device.
  std::span<const Start> run(StageClock& clock, const Image& levels);

 private:
  void find_rotations(StageClock& clock);
  void take_better(std::span<const PeakRecord> peaks, Generator found_by);

  Shape level_;
  Motion motion_;
  LevelSpectra reference_, images_;
  PolarSpectra polar_reference_, polar_images_;
  SpectrumPeaks peaks_, polar_peaks_;
  InterpolatePlan turn_;
  Image turned_;
  std::vector<Affine> rotations_;  // from the turned image to the image
  std::vector<Transform> transforms_;
  std::vector<Start> starts_;
};

/// What is found of a frame.
struct FrameSimilarity {
  bool found = false;         ///< whether the fit at full resolution has converged
  bool evenly_lit = false;    ///< whether it is lit like the reference
  Affine frame_to_reference;  ///< where the frame's pixels lie on the reference
  Generator found_by = Generator::shifts;
};

/// Begins on a coarse level, and refines from level to level, all frames at once.
class SimilaritySearch {
 public:
  /// For `frames` frames of this shape at once.
  SimilaritySearch(const Device& device, const Shape& frame, const Shape& judged, double spacing,
                   std::int64_t frames, Motion motion);

  /// `pixels`: f32. `judged`: with the reference's level.
  void take_reference(StageClock& clock, const Image& pixels, const JudgedFrames& judged);
  /// The first `count` of the frames, f32 and stacked, whose levels `judged` has; valid until the
  /// next call. Waits for the device.
  std::span<const FrameSimilarity> run(StageClock& clock, const Image& frames, JudgedFrames& judged,
                                       std::size_t count);

 private:
  void fit_on(StageClock& clock, CoarseLevels& levels, const Image& reference, StackFit& fit,
              const FrameFitLimits& limits);
  void fit_frames(StageClock& clock, const Image& frames, JudgedFrames& judged);

  Shape frame_;
  Affine judged_to_frame_;
  CoarseLevels small_of_reference_, tiny_of_reference_, small_, tiny_;
  StartSearch starts_;
  StackFit small_fit_, tiny_fit_, fit_;
  Image reference_;
  double reference_mean_ = 0;
  std::vector<double> means_, no_means_;
  std::vector<FrameSimilarity> found_;
};

}  // namespace warpalign::detail

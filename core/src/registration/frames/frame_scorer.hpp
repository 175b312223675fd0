// Scores the shifts of a batch of frames: the correlation with the reference and its significance.
#pragma once

#include "device/readback.hpp"
#include "registration/pyramid/border.hpp"
#include "registration/pyramid/intensity_statistics.hpp"
#include "registration/pyramid/level_sampling.hpp"
#include "registration/resources/stage_clock.hpp"
#include "registration/scoring/self_similarity.hpp"

#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/backend/stages/refinement/shift_sums.hpp>
#include <warpalign/device.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The levels on which candidates are scored, for a stack of images. ImagePyramid computes the same
/// levels for one image.
class ScoringLevels {
 public:
  ScoringLevels(const Device& device, const Shape& image, std::int64_t images);

  [[nodiscard]] const Shape& shape() const { return level_; }
  [[nodiscard]] double spacing() const { return sampling_.spacing; }

  /// Computes the levels of a stack of f32 images.
  void enqueue(StageClock& clock, const Image& images);
  /// The intensity statistics of one level. Waits for the levels.
  [[nodiscard]] IntensityStatistics grey_levels_of(std::size_t image);
  /// Whether an area of constant intensity touches the edge of a level. ImagePyramid masks such a
  /// border.
  [[nodiscard]] bool has_border(std::size_t image, const IntensityStatistics& levels);
  /// The levels of the images of the last enqueue().
  [[nodiscard]] const Image& values() const { return values_; }
  /// The levels after the local normalization of the last coefficients().
  [[nodiscard]] const Image& normalized() const { return normalized_; }
  /// The cubic B-spline coefficients of the levels after local normalization with the statistics
  /// `as`.
  const Image& coefficients(StageClock& clock, const IntensityStatistics& as);

 private:
  [[nodiscard]] std::span<const float> values_of(std::size_t image);

  Sampling2d sampling_;
  Shape level_;
  SmoothPlan smooth_;
  LocalNormalizationPlan normalization_;
  PrefilterPlan prefilter_;
  Image values_, normalized_, coefficients_;
  Readback<float> on_host_;
  bool is_fetching_ = false;
  std::span<const float> fetched_;
  BorderSearch border_search_;
};

/// The score of a frame at a transform. The fields have the meanings of those of Candidate.
struct FrameScore {
  /// Whether the frame's contrast is within a factor of two of the reference's, and it has neither
  /// NaN nor a border. If not, the other fields are 0.
  bool ordinary = false;
  double correlation = 0, significance = 0, overlap = 0;
  /// How much the reference resembles itself at another shift, relative to the correlation. Near 1,
  /// the frame matches the reference there as well as where it was found.
  double other_shift_ratio = 0;
};

/// The levels of a reference and of frames, on which frames are scored.
class FrameLevels {
 public:
  /// `frames`: the maximum number of frames in one call.
  FrameLevels(const Device& device, const Shape& frame, std::int64_t frames);

  [[nodiscard]] const Shape& shape() const { return levels_.shape(); }
  [[nodiscard]] double spacing() const { return levels_.spacing(); }

  /// Sets the reference, f32. Returns false if it is constant, or has NaN or a border.
  bool take_reference(StageClock& clock, const Image& pixels);
  [[nodiscard]] const IntensityStatistics& reference_grey() const { return reference_grey_; }
  [[nodiscard]] const Image& reference_values() const { return reference_levels_.values(); }
  /// The coefficients of the reference's level.
  [[nodiscard]] const Image& reference() const { return *reference_; }

  /// FrameScore::other_shift_ratio of a frame with this correlation. Waits for the device.
  [[nodiscard]] double other_shift_ratio(double correlation);

  /// Computes the levels of a stack of f32 frames and returns their coefficients.
  const Image& take(StageClock& clock, const Image& frames);
  [[nodiscard]] const Image& values() const { return levels_.values(); }
  /// See FrameScore::ordinary. Waits for the levels.
  [[nodiscard]] bool is_comparable(std::size_t frame) { return inspection_of(frame).ordinary; }
  [[nodiscard]] double mean_of(std::size_t frame) { return inspection_of(frame).mean; }

 private:
  struct Inspection {
    bool ordinary;
    double mean;
  };
  const Inspection& inspection_of(std::size_t frame);

  ScoringLevels reference_levels_, levels_;
  IntensityStatistics reference_grey_;
  const Image* reference_ = nullptr;
  SelfSimilarity self_similarity_;  // of the reference
  std::vector<std::optional<Inspection>>
      inspections_;  // for each frame of the last take(), computed on demand
};

class FrameScorer {
 public:
  /// `frames`: the maximum number of frames in one call.
  FrameScorer(const Device& device, const Shape& frame, std::int64_t frames);

  /// See FrameLevels::take_reference().
  bool take_reference(StageClock& clock, const Image& pixels) {
    return judged_.take_reference(clock, pixels);
  }
  /// Scores a frame for each of `shifts`. The scores stay valid until the next call. Waits for the
  /// device.
  std::span<const FrameScore> run(StageClock& clock, const Image& frames,
                                  std::span<const Point> shifts);

 private:
  void describe(const ShiftSums& sums, const Point& shift, FrameScore& judgement);

  Shape frame_;
  FrameLevels judged_;
  ShiftSumsPlan sums_;
  Buffer no_means_;
  std::vector<ShiftState> states_;
  std::vector<ShiftSums> results_;
  std::vector<FrameScore> judgements_;
};

}  // namespace warpalign::detail

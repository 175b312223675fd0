// Scores the shifts of a batch of frames: the correlation with the reference and its significance.
#pragma once

#include "device/readback.hpp"
#include "registration/pyramid/intensity_statistics.hpp"
#include "registration/pyramid/level_sampling.hpp"
#include "registration/resources/stage_clock.hpp"
#include "registration/scoring/self_similarity.hpp"
#include "registration/tasks/parallel_for.hpp"

#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/backend/stages/refinement/shift_sums.hpp>
#include <warpalign/device.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// What the host sees of a level.
struct LevelInspection {
  IntensityStatistics grey;
  /// Whether an area of constant intensity touches the edge, which ImagePyramid masks.
  bool has_border = false;
};

/// The levels on which candidates are scored, for a stack of images. ImagePyramid computes the same
/// levels for one image.
class ScoringLevels {
 public:
  /// `by_image`: whether coefficients() gets the levels of each image.
  ScoringLevels(const Device& device, const Shape& image, std::int64_t images, bool by_image);

  [[nodiscard]] const Shape& shape() const { return level_; }
  [[nodiscard]] double spacing() const { return sampling_.spacing; }

  /// Computes the levels of a stack of f32 images.
  void enqueue(StageClock& clock, const Image& images);
  /// Inspects the first `count` levels, on several threads if `loop` is not null. Valid until the
  /// next call. Waits for the levels.
  std::span<const LevelInspection> inspect(std::size_t count, ParallelFor* loop);
  /// The levels of the images of the last enqueue().
  [[nodiscard]] const Image& values() const { return values_; }
  /// The levels after the local normalization of the last coefficients().
  [[nodiscard]] const Image& normalized() const { return normalized_; }
  /// One level on the host. Waits for the levels.
  [[nodiscard]] std::span<const float> values_of(std::size_t image);
  /// The cubic B-spline coefficients of the levels after local normalization with these levels, one
  /// for all or one for each.
  const Image& coefficients(StageClock& clock, std::span<const LocalLevels> normalization);

 private:
  Sampling2d sampling_;
  Shape level_;
  SmoothPlan smooth_;
  LocalNormalizationPlan normalization_;
  PrefilterPlan prefilter_;
  Image values_, normalized_, coefficients_;
  Readback<float> on_host_;
  bool is_fetching_ = false;
  std::span<const float> fetched_;
  std::vector<LevelInspection> inspections_;
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

/// The levels of references and of frames, on which frames are scored.
class FrameLevels {
 public:
  /// `frames`: the maximum number of frames in one call. `references`: 1 for all frames, or one for
  /// each. `loop`: for work on the host; null: the caller's thread alone.
  FrameLevels(const Device& device, const Shape& frame, std::int64_t frames,
              std::int64_t references, ParallelFor* loop);

  [[nodiscard]] const Shape& shape() const { return levels_.shape(); }
  [[nodiscard]] double spacing() const { return levels_.spacing(); }

  /// Sets the first `count` references, a stack of f32. Waits for the device.
  void take_references(StageClock& clock, const Image& pixels, std::size_t count);
  /// Whether a frame's reference is neither constant nor has NaN or a border.
  [[nodiscard]] bool has_usable_reference(std::size_t frame) const {
    return usable_[reference_of(frame)] != 0;
  }
  /// The levels for the local normalization of references and frames.
  [[nodiscard]] std::span<const LocalLevels> normalization() const { return normalization_; }
  [[nodiscard]] const Image& reference_values() const { return reference_levels_.values(); }
  /// The coefficients of the references' levels.
  [[nodiscard]] const Image& references() const { return *references_; }
  /// The level of a frame, and of its reference, on the host. Waits for the levels.
  [[nodiscard]] std::span<const float> values_on_host(std::size_t frame) {
    return levels_.values_of(frame);
  }
  [[nodiscard]] std::span<const float> reference_on_host(std::size_t frame) {
    return reference_levels_.values_of(reference_of(frame));
  }

  /// FrameScore::other_shift_ratio of a frame with this correlation. Waits for the device.
  [[nodiscard]] double other_shift_ratio(std::size_t frame, double correlation);

  /// Computes the levels of a stack of f32 frames, of which `count` are new, and returns their
  /// coefficients.
  const Image& take(StageClock& clock, const Image& frames, std::size_t count);
  [[nodiscard]] const Image& values() const { return levels_.values(); }
  /// See FrameScore::ordinary. Waits for the levels.
  [[nodiscard]] bool is_comparable(std::size_t frame);
  /// The intensity statistics of a frame, and of its reference. Waits for the levels.
  [[nodiscard]] const IntensityStatistics& grey_of(std::size_t frame) {
    return inspection_of(frame).grey;
  }
  [[nodiscard]] const IntensityStatistics& reference_grey(std::size_t frame) const {
    return reference_grey_[reference_of(frame)];
  }

 private:
  const LevelInspection& inspection_of(std::size_t frame);
  [[nodiscard]] std::size_t reference_of(std::size_t frame) const {
    return usable_.size() == 1 ? 0 : frame;
  }

  ScoringLevels reference_levels_, levels_;
  std::vector<IntensityStatistics> reference_grey_;
  std::vector<LocalLevels> normalization_;
  std::vector<char> usable_;
  const Image* references_ = nullptr;
  SelfSimilarity self_similarity_;  // of the references
  ParallelFor* loop_;
  std::size_t frames_ = 0;                        // of the last take()
  std::span<const LevelInspection> inspections_;  // of these, made on demand
};

class FrameScorer {
 public:
  /// `frames`: the maximum number of frames in one call. `loop`: as for FrameLevels.
  FrameScorer(const Device& device, const Shape& frame, std::int64_t frames, ParallelFor* loop);

  /// Sets the reference, f32. Returns false if it is constant, or has NaN or a border. Waits for
  /// the device.
  bool take_reference(StageClock& clock, const Image& pixels) {
    judged_.take_references(clock, pixels, 1);
    return judged_.has_usable_reference(0);
  }
  /// Scores a frame for each of `shifts`. The scores stay valid until the next call. Waits for the
  /// device.
  std::span<const FrameScore> run(StageClock& clock, const Image& frames,
                                  std::span<const Point> shifts);

 private:
  void describe(std::size_t frame, const ShiftSums& sums, const Point& shift);

  Shape frame_;
  FrameLevels judged_;
  ShiftSumsPlan sums_;
  Buffer no_means_;
  std::vector<ShiftState> states_;
  std::vector<ShiftSums> results_;
  std::vector<FrameScore> judgements_;
};

}  // namespace warpalign::detail

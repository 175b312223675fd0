// How far the agreement of frames with a reference is above chance, for a batch of frames.
#pragma once

#include "device/readback.hpp"
#include "registration/pyramid/border.hpp"
#include "registration/pyramid/grey_levels.hpp"
#include "registration/pyramid/level_sampling.hpp"
#include "registration/resources/stage_clock.hpp"

#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/backend/stages/refinement/shift_sums.hpp>
#include <warpalign/device.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The levels of a stack of images on which candidates are judged, as ImagePyramid makes them.
class JudgedLevels {
 public:
  JudgedLevels(const Device& device, const Shape& image, std::int64_t images);

  [[nodiscard]] const Shape& shape() const { return level_; }
  [[nodiscard]] double spacing() const { return sampling_.spacing; }

  /// Computes the levels of f32 images that are stacked.
  void enqueue(StageClock& clock, const Image& images);
  /// The grey levels of one of them. Waits for the levels.
  [[nodiscard]] GreyLevels grey_levels_of(std::size_t image);
  /// Whether an area of one grey level touches its edge: such a border is masked by ImagePyramid.
  [[nodiscard]] bool has_border(std::size_t image, const GreyLevels& levels);
  /// Of the images of the last call.
  [[nodiscard]] const Image& values() const { return values_; }
  /// The cubic coefficients of the levels, normalized locally as an image with these grey levels.
  const Image& coefficients(StageClock& clock, const GreyLevels& as);

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

/// What is known of a frame at its shift. The numbers mean what those of Candidate do.
struct FrameJudgement {
  /// Whether the frame has contrast as the reference has it, within a factor of two, and neither
  /// NaN nor a border: only then do the numbers count.
  bool ordinary = false;
  double correlation = 0, significance = 0, overlap = 0;
};

/// The levels of a reference and of frames between which frames are judged.
class JudgedFrames {
 public:
  /// For `frames` frames at once.
  JudgedFrames(const Device& device, const Shape& frame, std::int64_t frames);

  [[nodiscard]] const Shape& shape() const { return levels_.shape(); }
  [[nodiscard]] double spacing() const { return levels_.spacing(); }

  /// Of the reference, f32. Returns false where it cannot be compared with frames: it is constant,
  /// or has NaN or a border.
  bool take_reference(StageClock& clock, const Image& pixels);
  [[nodiscard]] const GreyLevels& reference_grey() const { return reference_grey_; }
  [[nodiscard]] const Image& reference_values() const { return reference_levels_.values(); }
  /// The coefficients of its level.
  [[nodiscard]] const Image& reference() const { return *reference_; }

  /// The coefficients of the levels of frames, f32 and stacked.
  const Image& take(StageClock& clock, const Image& frames);
  [[nodiscard]] const Image& values() const { return levels_.values(); }
  /// See FrameJudgement. Waits for the levels.
  [[nodiscard]] bool is_ordinary(std::size_t frame) { return looked_at(frame).ordinary; }
  [[nodiscard]] double mean_of(std::size_t frame) { return looked_at(frame).mean; }

 private:
  struct Look {
    bool ordinary;
    double mean;
  };
  const Look& looked_at(std::size_t frame);

  JudgedLevels reference_levels_, levels_;
  GreyLevels reference_grey_;
  const Image* reference_ = nullptr;
  std::vector<std::optional<Look>> looks_;  // at each frame of the last take()
};

class FrameJudge {
 public:
  /// For `frames` frames at once.
  FrameJudge(const Device& device, const Shape& frame, std::int64_t frames);

  /// As JudgedFrames.
  bool take_reference(StageClock& clock, const Image& pixels) {
    return judged_.take_reference(clock, pixels);
  }
  /// Judges one frame for each of `shifts`; valid until the next call. Waits for the device.
  std::span<const FrameJudgement> run(StageClock& clock, const Image& frames,
                                      std::span<const Point> shifts);

 private:
  void describe(const ShiftSums& sums, const Point& shift, FrameJudgement& judgement) const;

  Shape frame_;
  JudgedFrames judged_;
  ShiftSumsPlan sums_;
  Buffer no_means_;
  std::vector<ShiftState> states_;
  std::vector<ShiftSums> results_;
  std::vector<FrameJudgement> judgements_;
};

}  // namespace warpalign::detail

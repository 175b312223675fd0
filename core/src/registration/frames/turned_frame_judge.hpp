// How far the agreement of frames with a reference is above chance, where they have turned.
#pragma once

#include "registration/frames/frame_judge.hpp"
#include "registration/frames/lighting.hpp"

#include <warpalign/backend/stages/refinement/frame_sums.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// As FrameJudge, for similarities.
class TurnedFrameJudge {
 public:
  /// For `frames` frames at once.
  TurnedFrameJudge(const Device& device, const Shape& frame, std::int64_t frames);

  /// As JudgedFrames.
  bool take_reference(StageClock& clock, const Image& pixels) {
    return judged_.take_reference(clock, pixels);
  }
  /// Makes the levels of frames, f32 and stacked, from which a search begins.
  void take(StageClock& clock, const Image& frames) {
    coefficients_ = &judged_.take(clock, frames);
  }
  [[nodiscard]] JudgedFrames& levels() { return judged_; }

  /// Judges the frames of the last take(), one for each of these transforms from frame to
  /// reference; valid until the next call. Waits for the device.
  std::span<const FrameJudgement> run(StageClock& clock,
                                      std::span<const Affine> frame_to_reference);

 private:
  void describe(const FrameSums& sums, double scale, FrameJudgement& judgement) const;

  Shape frame_;
  JudgedFrames judged_;
  const Image* coefficients_ = nullptr;
  Affine to_frame_;  ///< pixels of the level -> pixels of the frame
  std::vector<FrameCell> cells_;
  FrameSumsPlan sums_;
  std::vector<FrameState> states_;
  std::vector<FrameSums> results_;
  std::vector<FrameJudgement> judgements_;
};

}  // namespace warpalign::detail

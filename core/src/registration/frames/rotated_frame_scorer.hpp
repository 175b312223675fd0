// Scores the similarities of a batch of frames: the correlation with the reference and its
// significance.
#pragma once

#include "registration/frames/even_illumination.hpp"
#include "registration/frames/frame_scorer.hpp"

#include <warpalign/backend/stages/refinement/frame_sums.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// Like FrameScorer, but for similarities instead of shifts.
class RotatedFrameScorer {
 public:
  /// As for FrameLevels.
  RotatedFrameScorer(const Device& device, const Shape& frame, std::int64_t frames,
                     std::int64_t references, ParallelFor* loop);

  /// Computes the levels of a stack of f32 frames, of which `count` are new, on which a search
  /// begins.
  void take(StageClock& clock, const Image& frames, std::size_t count) {
    coefficients_ = &judged_.take(clock, frames, count);
  }
  [[nodiscard]] FrameLevels& levels() { return judged_; }

  /// Scores a frame of the last take() for each of these transforms from frame to reference. The
  /// scores stay valid until the next call. Waits for the device.
  std::span<const FrameScore> run(StageClock& clock, std::span<const Affine> frame_to_reference);

 private:
  void describe(std::size_t frame, const FrameSums& sums, double scale);

  Shape frame_;
  FrameLevels judged_;
  const Image* coefficients_ = nullptr;
  Affine to_frame_;  ///< pixels of the level -> pixels of the frame
  std::vector<FrameCell> cells_;
  FrameSumsPlan sums_;
  std::vector<FrameState> states_;
  std::vector<FrameSums> results_;
  std::vector<FrameScore> judgements_;
};

}  // namespace warpalign::detail

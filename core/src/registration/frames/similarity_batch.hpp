// Registers many frames, or many pairs, at once by similarities. Those without a conclusive result
// are left to a Registrar.
#pragma once

#include "registration/frames/frame_batch.hpp"
#include "registration/frames/rotated_frame_scorer.hpp"
#include "registration/frames/similarity_search.hpp"
#include "registration/tasks/host_loop.hpp"

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The search of a batch and the scores of what it finds, for images on the device.
class SimilarityMatcher {
 public:
  /// `loop`: as for FrameLevels.
  SimilarityMatcher(const Device& device, const RegistrationOptions& options, const Shape& frame,
                    const StackSizes& sizes, ParallelFor* loop);

  /// Sets the first `count` references, a stack of f32, which must stay until the next call. Waits
  /// for the device.
  void take_references(StageClock& clock, const Image& pixels, std::size_t count);
  /// Searches the first `count` frames of a stack, f32. Waits for the device.
  void run(StageClock& clock, const Image& frames, std::size_t count);

  /// The result for a frame of the last run; empty if it is not certain.
  [[nodiscard]] std::optional<BatchedFrame> result(std::size_t frame) const;
  /// The scores of the first `count` of these frames without any motion. Waits for the device.
  std::span<const FrameScore> score_still(StageClock& clock, std::size_t count);
  [[nodiscard]] FrameLevels& levels() { return scorer_.levels(); }

 private:
  [[nodiscard]] bool is_allowed(const Affine& matrix) const;

  RegistrationOptions options_;
  Shape frame_;
  ConclusiveResults conclusive_;
  RotatedFrameScorer scorer_;
  SimilaritySearch search_;
  std::span<const FrameSimilarity> found_;
  std::vector<Affine> matrices_;  // from frame to reference
  std::span<const FrameScore> scores_;
};

/// For Motion::similarity and Motion::rigid.
class SimilarityBatch final : public FrameBatch {
 public:
  SimilarityBatch(const Device& device, const RegistrationOptions& options, PixelType type,
                  const Shape& frame, std::size_t frames_at_once);

  [[nodiscard]] std::size_t frames() const override { return frames_; }
  bool take_reference(StageClock& clock, const HostImage& image) override;
  std::span<const std::optional<BatchedFrame>> run(StageClock& clock,
                                                   std::span<const HostImage> frames) override;

 private:
  std::size_t frames_;
  HostLoop host_;
  PixelUpload upload_of_reference_;
  Image reference_;
  StackUpload upload_;
  SimilarityMatcher matcher_;
  std::vector<std::optional<BatchedFrame>> results_;
};

}  // namespace warpalign::detail

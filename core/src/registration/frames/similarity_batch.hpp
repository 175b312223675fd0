// Registers many frames at once by similarities. Frames without a conclusive result are left to a
// Registrar.
#pragma once

#include "registration/frames/frame_batch.hpp"
#include "registration/frames/rotated_frame_scorer.hpp"
#include "registration/frames/similarity_search.hpp"

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

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
  [[nodiscard]] bool is_certain(const FrameSimilarity& found, const Affine& matrix,
                                const FrameScore& judgement) const;
  [[nodiscard]] bool is_allowed(const Affine& matrix) const;

  RegistrationOptions options_;
  std::size_t frames_;
  PixelUpload upload_of_reference_;
  Image reference_;
  StackUpload upload_;
  RotatedFrameScorer judge_;
  SimilaritySearch search_;
  std::vector<Affine> matrices_;  // from frame to reference
  std::vector<std::optional<BatchedFrame>> results_;
};

}  // namespace warpalign::detail

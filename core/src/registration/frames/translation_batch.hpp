// Registers many frames at once by translations. Frames without a conclusive result are left to a
// Registrar.
#pragma once

#include "registration/frames/frame_batch.hpp"
#include "registration/frames/frame_scorer.hpp"
#include "registration/frames/frame_search.hpp"
#include "registration/tasks/host_loop.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

class TranslationBatch final : public FrameBatch {
 public:
  TranslationBatch(const Device& device, const RegistrationOptions& options, PixelType type,
                   const Shape& frame, std::size_t frames_at_once);

  [[nodiscard]] std::size_t frames() const override { return search_.frames(); }
  bool take_reference(StageClock& clock, const HostImage& image) override;
  std::span<const std::optional<BatchedFrame>> run(StageClock& clock,
                                                   std::span<const HostImage> frames) override;

 private:
  [[nodiscard]] bool is_certain(const FrameShift& shift, const FrameScore& judgement) const;

  RegistrationOptions options_;
  ConclusiveResults conclusive_;
  HostLoop host_;
  FrameReference reference_;
  FrameSearch search_;
  FrameScorer judge_;
  std::vector<Point> shifts_;
  std::vector<std::optional<BatchedFrame>> results_;
};

}  // namespace warpalign::detail

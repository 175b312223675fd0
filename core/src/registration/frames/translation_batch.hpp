// Translations of many frames at once, where they are beyond doubt.
#pragma once

#include "registration/frames/frame_judge.hpp"
#include "registration/frames/frame_search.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Whether registrations with these options can pass through a TranslationBatch.
[[nodiscard]] bool can_be_batched(const RegistrationOptions& options);
/// Whether it takes images of this type and shape.
[[nodiscard]] bool can_be_batched(PixelType type, const Shape& shape);

/// Frames of one type and shape against one reference.
class TranslationBatch {
 public:
  /// For up to `frames_at_once` frames; fewer where a device gains nothing by more.
  TranslationBatch(const Device& device, const RegistrationOptions& options, PixelType type,
                   const Shape& frame, std::size_t frames_at_once);

  [[nodiscard]] PixelType type() const { return type_; }
  [[nodiscard]] const Shape& frame() const { return frame_; }
  [[nodiscard]] std::size_t frames() const { return search_.frames(); }

  /// Of the frames' shape. Returns false where it is not one that frames can be compared with here.
  /// Waits for the device.
  bool take_reference(Stream& stream, const HostImage& image);
  /// The results of `frames`, at most frames(); none for those that a Registrar must decide on.
  /// Valid until the next call. Waits for the device.
  std::span<const std::optional<RegistrationResult>> run(Stream& stream,
                                                         std::span<const HostImage> frames);

 private:
  [[nodiscard]] bool is_certain(const FrameShift& shift, const FrameJudgement& judgement) const;
  [[nodiscard]] RegistrationResult result_of(const Point& shift,
                                             const FrameJudgement& judgement) const;

  PixelType type_;
  Shape frame_;
  double places_;  ///< that one frame's search may take for the right one
  double max_shift_;
  FrameReference reference_;
  FrameSearch search_;
  FrameJudge judge_;
  std::vector<Point> shifts_;
  std::vector<std::optional<RegistrationResult>> results_;
};

}  // namespace warpalign::detail

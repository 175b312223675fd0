// What frames have in common that are registered together.
#pragma once

#include "registration/frames/frame_judge.hpp"

#include <warpalign/registrar.hpp>

#include <memory>
#include <optional>
#include <span>

namespace warpalign::detail {

/// Whether registrations with these options can pass through a FrameBatch.
[[nodiscard]] bool can_be_batched(const RegistrationOptions& options);
/// Whether one takes images of this type and shape.
[[nodiscard]] bool can_be_batched(PixelType type, const Shape& shape);

/// Frames of one type and shape against one reference.
class FrameBatch {
 public:
  virtual ~FrameBatch() = default;
  FrameBatch(const FrameBatch&) = delete;
  FrameBatch& operator=(const FrameBatch&) = delete;

  [[nodiscard]] PixelType type() const { return type_; }
  [[nodiscard]] const Shape& frame() const { return frame_; }
  [[nodiscard]] virtual std::size_t frames() const = 0;

  /// Of the frames' shape. Returns false where it is not one that frames can be compared with here.
  /// Waits for the device.
  virtual bool take_reference(StageClock& clock, const HostImage& image) = 0;
  /// The results of `frames`, at most frames(); none for those that a Registrar must decide on.
  /// Valid until the next call. Waits for the device.
  virtual std::span<const std::optional<RegistrationResult>> run(
      StageClock& clock, std::span<const HostImage> frames) = 0;

 protected:
  FrameBatch(const RegistrationOptions& options, PixelType type, const Shape& frame);

  /// The result of a frame that is beyond doubt. `matrix`: from the reference to the frame.
  [[nodiscard]] RegistrationResult certain(const Affine& matrix, Generator proposed_by,
                                           const FrameJudgement& judgement) const;

 private:
  PixelType type_;
  Shape frame_;
  Motion motion_;
  double places_;  ///< that one frame's search may take for the right one
};

/// For the motion that the options ask for, and for up to `frames_at_once` frames; fewer where a
/// device gains nothing by more.
[[nodiscard]] std::unique_ptr<FrameBatch> make_frame_batch(const Device& device,
                                                           const RegistrationOptions& options,
                                                           PixelType type, const Shape& frame,
                                                           std::size_t frames_at_once);

/// Whether an image has impulse noise, which a Registrar filters.
[[nodiscard]] bool has_impulses(const HostImage& image);

}  // namespace warpalign::detail

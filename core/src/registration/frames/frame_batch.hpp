// The interface of batches, which register many frames at once.
#pragma once

#include "registration/frames/frame_scorer.hpp"

#include <warpalign/registrar.hpp>

#include <memory>
#include <optional>
#include <span>

namespace warpalign::detail {

/// Whether a FrameBatch supports these options.
[[nodiscard]] bool can_be_batched(const RegistrationOptions& options);
/// Whether a FrameBatch supports images of this type and shape.
[[nodiscard]] bool can_be_batched(PixelType type, const Shape& shape);

/// The result of a frame in a batch.
struct BatchedFrame {
  RegistrationResult result;
  /// Whether the reference resembles itself so much that the frame may match it at other shifts as
  /// well. Only a Registrar tells whether it does.
  bool may_be_ambiguous = false;
};

/// Makes the results of frames whose scores are conclusive.
class ConclusiveResults {
 public:
  ConclusiveResults(const RegistrationOptions& options, const Shape& frame);

  /// `matrix`: from the reference to the frame.
  [[nodiscard]] BatchedFrame of(const Affine& matrix, SearchMethod proposed_by,
                                const FrameScore& score) const;

 private:
  Shape frame_;
  Motion motion_;
  double num_trials_;  ///< of the search of one frame
};

/// Registers frames of one type and shape with one reference.
class FrameBatch {
 public:
  virtual ~FrameBatch() = default;
  FrameBatch(const FrameBatch&) = delete;
  FrameBatch& operator=(const FrameBatch&) = delete;

  [[nodiscard]] PixelType type() const { return type_; }
  [[nodiscard]] const Shape& frame() const { return frame_; }
  [[nodiscard]] virtual std::size_t frames() const = 0;

  /// Sets the reference, an image of the frames' shape. Returns false if a batch cannot register
  /// frames with it. Waits for the device.
  virtual bool take_reference(StageClock& clock, const HostImage& image) = 0;
  /// Registers at most frames() frames. A result is empty if the frame needs a Registrar. The
  /// results stay valid until the next call. Waits for the device.
  virtual std::span<const std::optional<BatchedFrame>> run(StageClock& clock,
                                                           std::span<const HostImage> frames) = 0;

 protected:
  FrameBatch(PixelType type, const Shape& frame) : type_(type), frame_(frame) {}

 private:
  PixelType type_;
  Shape frame_;
};

/// Makes the batch for the motion of `options`, for up to `frames_at_once` frames; fewer if the
/// device does not benefit from more.
[[nodiscard]] std::unique_ptr<FrameBatch> make_frame_batch(const Device& device,
                                                           const RegistrationOptions& options,
                                                           PixelType type, const Shape& frame,
                                                           std::size_t frames_at_once);

/// Whether an image has impulse noise. Batches leave such images to a Registrar, which filters it.
[[nodiscard]] bool has_impulses(const HostImage& image);

}  // namespace warpalign::detail

// What is done with each frame of a stack: registered, resampled, written.
#pragma once

#include "commands/frame_warper.hpp"
#include "commands/stack_aligner.hpp"
#include "commands/stack_means.hpp"
#include "commands/stack_outputs.hpp"
#include "io/frames/frame_source.hpp"
#include "options/local_options.hpp"
#include "reports/stack_frame.hpp"

#include <memory>
#include <optional>
#include <span>

namespace warpalign::program {

/// By which motion frames are aligned.
struct StackMotion {
  RegistrationOptions global;
  std::optional<LocalSettings> local;  ///< instead
};

/// Works on one frame at a time, and keeps nothing of it.
class StackWork {
 public:
  /// Throws UsageError where the first frame cannot be registered to. Local motion takes no mask.
  StackWork(const Device& device, const StackMotion& motion, StackReference to, const Frame& first,
            std::optional<LoadedImage> mask, StackOutputs& outputs);

  /// Writes the first frame, as it is.
  [[nodiscard]] StackFrame take_first(const Frame& first);
  /// How many frames it gains by seeing ahead, and those frames, which take() is then called with.
  [[nodiscard]] std::size_t frames_at_once() const { return aligner_->frames_at_once(); }
  void look_ahead(std::span<const UpcomingFrame> frames) { aligner_->look_ahead(frames); }
  /// Registers a frame, and writes it where it is reliable. A frame that cannot be used does not
  /// affect the others. Throws FileError if an output cannot be written.
  [[nodiscard]] StackFrame take(const Frame& frame, std::size_t index);

  /// Whether the pixels of a frame that an earlier run has done are needed once more. `last`: the
  /// last reliable one of these frames.
  [[nodiscard]] bool needs_again(const StackFrame& done, std::size_t last) const;
  /// Makes good what is missing of a frame that an earlier run has done. `frame`: null where its
  /// pixels are not needed. Throws FileError.
  void take_again(const StackFrame& done, const Frame* frame, std::size_t last);

  /// Nothing unless the outputs want them.
  [[nodiscard]] std::optional<MeanPictures> means() const;
  /// The local motion with the largest spread; null where there is none.
  [[nodiscard]] const FrameMotion* widest() const { return widest_ ? &*widest_ : nullptr; }

 private:
  void note_widest(const FramePlace& place);

  Shape shape_;
  FrameWarper warper_;
  StackOutputs& outputs_;
  std::unique_ptr<StackAligner> aligner_;
  std::optional<StackMeans> means_;
  std::optional<FrameMotion> widest_;
  double widest_spread_ = 0;
};

}  // namespace warpalign::program

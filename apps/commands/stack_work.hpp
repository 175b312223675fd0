// Processes each frame of a stack: registers, resamples and writes it.
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

/// The motion model that aligns the frames.
struct StackMotion {
  RegistrationOptions global;
  std::optional<LocalSettings> local;  ///< if set, replaces `global`
};

/// Processes one frame at a time and keeps none of them.
class StackWork {
 public:
  /// Throws UsageError if the first frame cannot serve as a reference. Local motion supports no
  /// mask.
  StackWork(const Device& device, const StackMotion& motion, StackReference to, const Frame& first,
            std::optional<LoadedImage> mask, StackOutputs& outputs);

  /// Writes the first frame unchanged.
  [[nodiscard]] StackFrame take_first(const Frame& first);
  /// The number of frames that are faster to register together. Pass them to register_early()
  /// before take().
  [[nodiscard]] std::size_t frames_at_once() const { return aligner_->frames_at_once(); }
  void register_early(std::span<const UpcomingFrame> frames) { aligner_->register_early(frames); }
  /// Registers a frame, and writes it if the result is reliable. A frame that cannot be used does
  /// not affect the others. Throws FileError if an output cannot be written.
  [[nodiscard]] StackFrame take(const Frame& frame, std::size_t index);

  /// Whether this run needs the pixels of a frame that an earlier run has processed. `last`: the
  /// last reliable frame of the earlier run.
  [[nodiscard]] bool needs_finished(const StackFrame& done, std::size_t last) const;
  /// Completes the outputs of a frame that an earlier run has processed. `frame`: null if its
  /// pixels are not needed. Throws FileError.
  void add_finished(const StackFrame& done, const Frame* frame, std::size_t last);

  /// The means of the frames, if an output needs them.
  [[nodiscard]] std::optional<MeanPictures> means() const;
  /// The local motion with the largest spread, or null without local motion.
  [[nodiscard]] const FrameMotion* widest() const { return widest_ ? &*widest_ : nullptr; }

 private:
  void note_widest(const FrameAlignment& place);

  Shape shape_;
  FrameWarper warper_;
  StackOutputs& outputs_;
  std::unique_ptr<StackAligner> aligner_;
  std::optional<StackMeans> means_;
  std::optional<FrameMotion> widest_;
  double widest_spread_ = 0;
};

}  // namespace warpalign::program

// Processes each frame of a stack: registers, resamples and writes it.
#pragma once

#include "commands/frame_warper.hpp"
#include "commands/initial_drift.hpp"
#include "commands/stack_aligner.hpp"
#include "commands/stack_means.hpp"
#include "commands/stack_outputs.hpp"
#include "io/frames/frame_source.hpp"
#include "options/local_options.hpp"
#include "reports/stack_frame.hpp"
#include "reports/stack_report.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// The motion model that aligns the frames.
struct StackMotion {
  RegistrationOptions global;
  std::optional<LocalSettings> local;  ///< if set, replaces `global`
  std::vector<FrameAlignment> known;   ///< if not empty, replaces both: a transform for each frame
  std::optional<std::string> known_fields{};  ///< if set, replaces all: a file of fields
  std::optional<double> nodata{};             ///< the value of missing samples of the planes
  std::optional<InitialDrift> initial{};      ///< for `global`
};

/// Processes one frame at a time and keeps none of them.
class StackWork {
 public:
  /// `devices`: one or more; the first one resamples. `frame`: one of the frames. Local motion
  /// supports no mask. Throws UsageError if frames of this size cannot be registered. Call
  /// set_origin() before any frame is taken.
  StackWork(std::span<const Device> devices, const StackMotion& motion, StackReference to,
            const Frame& frame, std::optional<LoadedImage> mask, StackOutputs& outputs);

  /// Starts from this image, as StackAligner::set_origin does. Throws UsageError if its pixels
  /// cannot be used.
  void set_origin(const Frame& frame, std::optional<std::size_t> index);
  [[nodiscard]] std::vector<Trial> try_frames(std::span<const UpcomingFrame> frames) {
    return aligner_->try_frames(frames);
  }
  /// Sets the transforms of the channels, which are composed with those of the frames. Without a
  /// call, channels lie on each other. Not with local motion.
  void align_channels(const std::vector<ChannelTransform>& channels) { channels_ = channels; }
  /// Selects the frame that take() writes unchanged; without a call, none.
  void start_from(const DriftOrigin& origin) { origin_ = origin; }

  /// Makes every frame one that cannot be used, because the stack shows nothing but a pattern that
  /// is fixed to the sensor. There is then no origin.
  void refuse_all() { shows_only_pattern_ = true; }
  /// Makes no frame reliable, because a part of the scene may be in the pattern.
  void trust_none() { is_unclear_ = true; }

  /// The number of frames that are faster to register together. Pass them to register_early()
  /// before take().
  [[nodiscard]] std::size_t frames_at_once() const {
    return std::min(aligner_->frames_at_once(), max_frames_at_once_);
  }
  void register_early(std::span<const UpcomingFrame> frames) {
    if (!shows_only_pattern_) aligner_->register_early(frames);
  }
  [[nodiscard]] bool is_origin(std::size_t index) const { return origin_.is(index); }
  /// StackFrame::note of a frame.
  [[nodiscard]] std::string note_of(std::size_t index) const;
  /// Registers a frame, and writes it if the result is reliable. Writes the drift's origin
  /// unchanged. A frame that cannot be used does
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
  [[nodiscard]] StackFrame take_origin(const Frame& frame, std::size_t index);
  [[nodiscard]] AlignedFrame aligned(const Frame& frame, GridMap& map, const FrameAlignment& place);
  [[nodiscard]] AlignedFrame unwarped(const Frame& frame);
  [[nodiscard]] const Affine* channel_transform(std::size_t plane) const;
  void note_widest(const FrameAlignment& place);
  [[nodiscard]] std::vector<LoadedImage> field_of(const GridMap& map) const;
  [[nodiscard]] FrameWarper& plane_warper() { return plane_warper_ ? *plane_warper_ : warper_; }

  Shape shape_;
  std::size_t max_frames_at_once_;  ///< because all planes of a frame are in memory
  FrameWarper warper_;              ///< of the images that are registered, in which NaN is missing
  std::optional<FrameWarper> plane_warper_;  ///< of planes with a nodata value
  StackOutputs& outputs_;
  std::vector<ChannelTransform> channels_;  ///< empty if channels are not aligned
  std::unique_ptr<StackAligner> aligner_;
  DriftOrigin origin_{DriftOrigin::Reason::none, {}, ""};
  std::optional<StackMeans> means_;
  bool shows_only_pattern_ = false, is_unclear_ = false;
  std::optional<FrameMotion> widest_;
  double widest_spread_ = 0;
};

}  // namespace warpalign::program

// Reads the input frames of `warpalign stack`.
#pragma once

#include "commands/registered_image.hpp"
#include "io/frames/frame_sequence.hpp"

#include <warpalign/sensor_pattern.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

class StackInput {
 public:
  /// Reads up to the frame after the first readable one, so that invalid input is refused before
  /// any other work. Throws FileError if there are no such frames, and UsageError for a stack of
  /// one frame or of frames that are too small.
  StackInput(std::vector<std::string> files, const RegisteredBy& by);

  /// The first frame that can be read. Its pixels are available until its turn in next().
  [[nodiscard]] const Frame& first() const { return first_ == taken ? like_ : ahead_[first_]; }
  [[nodiscard]] FrameCount count() const { return source_.count(); }
  [[nodiscard]] std::string ended_early() const { return source_.ended_early(); }
  [[nodiscard]] const VideoFormat* video() const { return source_.video(); }
  /// The planes of each frame, and the metadata.
  [[nodiscard]] RecordingFormat recording() const;

  /// Frame `index`, read ahead of its turn, or null after the last frame. Call it before the first
  /// next() or skip(), until which the pointer is valid. Throws FileError.
  [[nodiscard]] const Frame* peek(std::size_t index);
  /// Frees the pixels of a frame that was read ahead, because it cannot be used.
  void mark_unusable(std::size_t index, std::string trouble);

  /// The next frame. If its shape or type differs from the first frame, its `trouble` says so.
  /// Throws FileError.
  [[nodiscard]] std::optional<Frame> next();
  bool skip();

  /// Undoes this offset of lines 1, 3, 5, ... in all planes of all frames. To be called before the
  /// first next() or skip(). Throws UsageError if it is not below the width.
  void undo_line_offset(double pixels);
  /// Subtracts this pattern from the image by which each frame is registered. The planes that are
  /// written stay as they are. To be called before the first next() or skip().
  void leave_out(SensorPattern pattern);
  /// Subtracts the pattern from an image of these frames, if there is one.
  void subtract_from(LoadedImage& image) const;
  /// Subtracts the pattern from an image that is no frame, if there is a pattern and the image
  /// shows it. Returns by what factor, or 0. `mask`: null, or 0 where pixels are ignored.
  double subtract_if_shown(LoadedImage& image, const LoadedImage* mask) const;
  /// The number of frames that the files hold completely. Reads no pixels. Throws FileError. Not
  /// for pipes.
  [[nodiscard]] std::size_t count_frames() const;
  /// Reads up to `count` usable frames a second time, distributed over the input, or the first ones
  /// if the number of frames is not known.
  template <typename Use>
  void read_some(std::size_t count, const Use& use) const {
    FrameSequence again(source_.files(), by_.planes());
    const FrameCount all = source_.count();
    const std::size_t step = all.exact ? std::max<std::size_t>(all.frames / count, 1) : 1;
    for (std::size_t read = 0; read < count; ++read) {
      std::optional<Frame> frame = again.next();
      if (!frame) return;
      prepare(*frame);
      if (frame->trouble.empty()) use(*frame);
      for (std::size_t i = 1; i < step; ++i) again.skip();
    }
  }

  /// The first file that is a pipe, which can be read only once, or nothing.
  [[nodiscard]] std::optional<std::string> pipe() const;
  /// Reads the input a second time, from frame `start` on, until `use` returns false. Returns the
  /// number of frames before the end or that frame. Throws FileError.
  template <typename Use>
  std::size_t read_again(std::size_t start, const Use& use) const {
    FrameSequence again(source_.files(), by_.planes());
    std::size_t index = 0;
    while (index < start && again.skip()) ++index;
    if (index < start) return index;
    while (std::optional<Frame> frame = again.next()) {
      prepare(*frame);
      if (!use(index, *std::move(frame))) break;
      ++index;
    }
    return index;
  }

 private:
  void check_like_first(Frame& frame) const;
  void prepare(Frame& frame) const;
  void undo_offset(Frame& frame) const;
  void subtract_pattern(Frame& frame) const;
  std::optional<Frame> read();

  static constexpr std::size_t taken = static_cast<std::size_t>(-1);

  RegisteredBy by_;
  FrameSequence source_;
  std::optional<RegisteredImage> registered_;  ///< set by the first readable frame
  std::deque<Frame> ahead_;                    ///< the frames that were read and not taken
  std::size_t first_ = 0;   ///< position of the first readable frame in `ahead_`, or `taken`
  double line_offset_ = 0;  ///< which is undone in lines 1, 3, 5, ...
  std::optional<SensorPattern> pattern_;  ///< which is subtracted from images
  Frame like_;                            ///< the first readable frame without its pixels
};

}  // namespace warpalign::program

// The frames that `warpalign stack` works on: those of its files, with the first one looked at.
#pragma once

#include "io/frames/frame_sequence.hpp"

#include <optional>

namespace warpalign::program {

class StackInput {
 public:
  /// Reads the first two frames, so that what is no stack is refused before anything else is done.
  /// Throws FileError where the first one cannot be read, and UsageError for a stack of one frame
  /// and for frames that are too small to be registered.
  StackInput(std::vector<std::string> files, const PlaneChoice& choice);

  [[nodiscard]] const Frame& first() const { return first_; }
  /// Frees the first frame's pixels: nothing asks for them again.
  void drop_first_pixels() { std::vector<std::byte>().swap(first_.image.pixels); }
  [[nodiscard]] FrameCount count() const { return source_.count(); }
  [[nodiscard]] std::string ended_early() const { return source_.ended_early(); }
  [[nodiscard]] const VideoFormat* video() const { return source_.video(); }

  /// The frames after the first one. One that differs from it in shape or type comes with that as
  /// its trouble. Throws FileError.
  [[nodiscard]] std::optional<Frame> next();
  bool skip();

 private:
  void check_like_first(Frame& frame) const;

  FrameSequence source_;
  Frame first_;
  std::optional<Frame> second_;
};

}  // namespace warpalign::program

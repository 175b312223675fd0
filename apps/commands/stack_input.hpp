// Reads the input frames of `warpalign stack`.
#pragma once

#include "io/frames/frame_sequence.hpp"

#include <optional>

namespace warpalign::program {

class StackInput {
 public:
  /// Reads the first two frames, so that invalid input is refused before any other work. Throws
  /// FileError if the first frame cannot be read, and UsageError for a stack of one frame or of
  /// frames that are too small.
  StackInput(std::vector<std::string> files, const PlaneChoice& choice);

  [[nodiscard]] const Frame& first() const { return first_; }
  /// Frees the first frame's pixels when they are no longer needed.
  void drop_first_pixels() { std::vector<std::byte>().swap(first_.image.pixels); }
  [[nodiscard]] FrameCount count() const { return source_.count(); }
  [[nodiscard]] std::string ended_early() const { return source_.ended_early(); }
  [[nodiscard]] const VideoFormat* video() const { return source_.video(); }

  /// The next frame after the first one. If its shape or type differs from the first frame, its
  /// `trouble` says so. Throws FileError.
  [[nodiscard]] std::optional<Frame> next();
  bool skip();

 private:
  void check_like_first(Frame& frame) const;

  FrameSequence source_;
  Frame first_;
  std::optional<Frame> second_;
};

}  // namespace warpalign::program

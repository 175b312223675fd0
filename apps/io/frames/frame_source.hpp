// The frames of a stack or a video, one after the other.
#pragma once

#include "io/image_file.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace warpalign::program {

struct Frame {
  std::string name;  ///< "f.png"; with its number where a file has several: "stack.tif[12]"
  std::string stem;  ///< the file's name without folder and extension
  LoadedImage image;
  std::string trouble;  ///< one line that names it and says why it could not be read; `image` holds
                        ///< nothing then
};

struct FrameCount {
  std::size_t frames = 0;  ///< 0 where nothing is known before the end
  bool exact = false;      ///< false for an estimate
};

/// What a video's file says about its frames besides their pixels, in the words of YUV4MPEG2.
struct VideoFormat {
  std::string rate = "25:1";  ///< frames a second, as a fraction
  std::string interlacing;    ///< "p", "t", "b" or "m"; empty where it is not said
  std::string aspect;         ///< of one pixel, as a fraction; empty where it is not said
  std::string range;          ///< "FULL" or "LIMITED"; empty where it is not said
  int bits = 8;               ///< of a sample
};

/// Gives each frame once. Only the frame that next() returns is in memory. What the functions
/// throw, and ended_early(), does not name the file: FrameSequence does.
class FrameSource {
 public:
  FrameSource() = default;
  FrameSource(const FrameSource&) = delete;
  FrameSource& operator=(const FrameSource&) = delete;
  virtual ~FrameSource() = default;

  [[nodiscard]] virtual FrameCount count() const = 0;
  /// The next frame; nothing after the last one. A frame that cannot be read comes with its
  /// trouble, and the next call goes on behind it. Throws FileError where nothing can be read any
  /// more.
  [[nodiscard]] virtual std::optional<Frame> next() = 0;
  /// Passes over the next frame without decoding it. False after the last one.
  virtual bool skip() = 0;
  /// Why the frames ended before the file says they do; empty where they did not. It is known once
  /// next() or skip() has reached the end.
  [[nodiscard]] virtual std::string ended_early() const { return {}; }
  /// Null where the frames do not come from a video.
  [[nodiscard]] virtual const VideoFormat* video() const { return nullptr; }
};

}  // namespace warpalign::program

// Reads the frames of a stack or a video in order.
#pragma once

#include "io/frames/recording_format.hpp"
#include "io/image_file.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

struct Frame {
  std::string name;     ///< "f.png", or "stack.tif[12]" if the file has several
  std::string stem;     ///< the file's name without folder and extension
  LoadedImage image;    ///< the image that is registered; see `planes`
  std::string trouble;  ///< why the frame could not be read, in one line with its name; `image`
                        ///< and `planes` are then empty
  /// The planes of a frame that has several, the channels of the first slice first. FrameSource
  /// then leaves `image` empty. A frame with one plane has it in `image` only.
  std::vector<LoadedImage> planes = {};

  /// All planes: `planes`, or `image` alone.
  [[nodiscard]] std::span<const LoadedImage> all_planes() const {
    return planes.empty() ? std::span(&image, 1) : std::span<const LoadedImage>(planes);
  }
};

struct FrameCount {
  std::size_t frames = 0;  ///< 0 if unknown before the end
  bool exact = false;      ///< false for an estimate
};

/// The format of a video as given in its file, in YUV4MPEG2's terms.
struct VideoFormat {
  std::string rate = "25:1";  ///< frames a second, as a fraction
  std::string interlacing;    ///< "p", "t", "b" or "m"; empty if not given
  std::string aspect;         ///< of one pixel, as a fraction; empty if not given
  std::string range;          ///< "FULL" or "LIMITED"; empty if not given
  int bits = 8;               ///< of a sample
};

/// Returns each frame once, and keeps only the frame that next() returned in memory. Exceptions and
/// ended_early() omit the name of the file; FrameSequence adds it.
class FrameSource {
 public:
  FrameSource() = default;
  FrameSource(const FrameSource&) = delete;
  FrameSource& operator=(const FrameSource&) = delete;
  virtual ~FrameSource() = default;

  [[nodiscard]] virtual FrameCount count() const = 0;
  /// The next frame, or nothing after the last one. If a frame cannot be read, its `trouble` says
  /// why, and the next call continues with the frame after it. Throws FileError if no further frame
  /// can be read.
  [[nodiscard]] virtual std::optional<Frame> next() = 0;
  /// Skips the next frame without decoding it. Returns false after the last frame.
  virtual bool skip() = 0;
  /// Why the file ended before its last frame; empty if it did not. Valid once next() or skip() has
  /// reached the end.
  [[nodiscard]] virtual std::string ended_early() const { return {}; }
  /// The format of the video, or null if the frames are not from a video.
  [[nodiscard]] virtual const VideoFormat* video() const { return nullptr; }
  /// The planes of each frame, and the metadata, or null for a format that has neither.
  [[nodiscard]] virtual const RecordingFormat* recording() const { return nullptr; }
};

}  // namespace warpalign::program

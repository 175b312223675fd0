// Writes aligned frames to a gray YUV4MPEG2 video, in a file or on standard output.
#pragma once

#include "io/frames/frame_sink.hpp"
#include "io/frames/frame_source.hpp"
#include "io/frames/record_file.hpp"

namespace warpalign::program {

/// Repeats the previous frame for a frame that was not aligned, so that the video keeps its timing.
class VideoSink : public FrameSink {
 public:
  /// `name`: "-" selects standard output, which receives frames immediately. `frame`: any frame,
  /// for its shape and type: gray with 8 or 16 bits. `format`: that of the source, or null if it is
  /// not a video. `kept`: see RecordFile; ignored for standard output. Throws FileError.
  VideoSink(const std::string& name, const LoadedImage& frame, const VideoFormat* format,
            std::optional<std::size_t> kept);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool lacks(std::size_t index, const std::string& stem) const override;
  [[nodiscard]] bool takes_registered() const override { return true; }
  void write(std::size_t index, const std::string& stem,
             std::span<const LoadedImage> aligned) override;
  [[nodiscard]] std::string name_of(std::size_t index, const std::string& stem) const override;
  void sync() override;
  void commit() override;

 private:
  void take_pixels(const LoadedImage& aligned);

  std::string name_;
  int bits_ = 8;
  LoadedImage shown_;               ///< the frame to write
  std::optional<RecordFile> file_;  ///< empty for standard output
  std::size_t written_ = 0;
};

/// Throws FileError, naming the option, for frames that a gray video cannot hold.
void check_video_frames(const LoadedImage& frame);

}  // namespace warpalign::program

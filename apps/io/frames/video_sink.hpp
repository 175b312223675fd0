// Aligned frames as a gray YUV4MPEG2 video, in a file or on standard output.
#pragma once

#include "io/frames/frame_sink.hpp"
#include "io/frames/frame_source.hpp"
#include "io/frames/record_file.hpp"

namespace warpalign::program {

/// A frame that was not aligned shows the one before it, so that the video keeps its time.
class VideoSink : public FrameSink {
 public:
  /// `name`: "-" is standard output, which is written as the frames come. `frame`: any frame, for
  /// its shape and type: gray of 8 or 16 bits. `format`: the source's, null where it is no video.
  /// `kept`: as RecordFile takes it; not for standard output. Throws FileError.
  VideoSink(const std::string& name, const LoadedImage& frame, const VideoFormat* format,
            std::optional<std::size_t> kept);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool lacks(std::size_t index, const std::string& stem) const override;
  void write(std::size_t index, const std::string& stem, const LoadedImage* aligned) override;
  [[nodiscard]] std::string name_of(std::size_t index, const std::string& stem) const override;
  void sync() override;
  void commit() override;

 private:
  void take_pixels(const LoadedImage& aligned);

  std::string name_;
  int bits_ = 8;
  LoadedImage shown_;               ///< the frame that is written
  std::optional<RecordFile> file_;  ///< none for standard output
  std::size_t written_ = 0;
};

/// Throws FileError, naming the option, for frames that a gray video does not hold.
void check_video_frames(const LoadedImage& frame);

}  // namespace warpalign::program

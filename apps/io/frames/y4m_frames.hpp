// Reads the frames of a YUV4MPEG2 video from a file or a pipe.
#pragma once

#include "io/frames/frame_source.hpp"
#include "io/frames/input_stream.hpp"
#include "io/frames/y4m_header.hpp"

namespace warpalign::program {

/// Returns the luminance plane of each frame with the stored values: a 10-bit sample is at most
/// 1023.
class Y4mFrames : public FrameSource {
 public:
  /// Opens the file, or standard input for "-". Throws FileError.
  explicit Y4mFrames(const std::string& name);

  [[nodiscard]] FrameCount count() const override;
  [[nodiscard]] std::optional<Frame> next() override;
  bool skip() override;
  [[nodiscard]] std::string ended_early() const override { return trouble_; }
  [[nodiscard]] const VideoFormat* video() const override { return &header_.format; }

 private:
  bool begin_frame();
  bool end_frame(bool whole);
  bool read_luminance(LoadedImage& image);

  std::string name_;
  std::string stem_;
  InputStream stream_;
  Y4mHeader header_;
  std::uint64_t start_ = 0;  ///< offset of the first frame
  std::size_t next_ = 0;
  bool ended_ = false;
  std::string trouble_;
};

}  // namespace warpalign::program

// Parses and writes the first line of a YUV4MPEG2 video (.y4m), as described by mjpegtools'
// yuv4mpeg(5) and extended by FFmpeg to more than 8 bits.
#pragma once

#include "io/frames/frame_source.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpalign::program {

struct Y4mHeader {
  std::int64_t width = 0;
  std::int64_t height = 0;
  VideoFormat format;
  std::size_t chroma_samples = 0;  ///< after the luminance of each frame

  [[nodiscard]] std::size_t sample_bytes() const { return format.bits > 8 ? 2 : 1; }
  [[nodiscard]] std::size_t luminance_bytes() const {
    return static_cast<std::size_t>(width * height) * sample_bytes();
  }
  [[nodiscard]] std::size_t chroma_bytes() const { return chroma_samples * sample_bytes(); }
};

/// Parses the line, given without its newline. Throws FileError.
[[nodiscard]] Y4mHeader read_y4m_header(const std::string& line);

/// The first line of a gray video, with its newline.
[[nodiscard]] std::string gray_y4m_header(std::int64_t width, std::int64_t height,
                                          const VideoFormat& format);

}  // namespace warpalign::program

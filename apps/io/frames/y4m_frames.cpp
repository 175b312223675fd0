// Reads the frames of a YUV4MPEG2 video. Each frame starts with a line "FRAME", followed by its
// planes.
#include "io/frames/y4m_frames.hpp"

#include "io/codecs/codecs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>

namespace warpalign::program {
namespace {

constexpr std::size_t longest_line = 4096;
constexpr std::string_view frame_word = "FRAME";

}  // namespace

Y4mFrames::Y4mFrames(const std::string& name)
    : name_(name == "-" ? "standard input" : name),
      stem_(name == "-" ? "stdin" : std::filesystem::path(name).stem().string()),
      stream_(name) {
  if (stream_.at_end()) throw FileError("is empty");
  const std::optional<std::string> line = stream_.read_line(longest_line);
  if (!line) throw FileError("is not a YUV4MPEG2 video; convert it with ffmpeg -f yuv4mpegpipe");
  header_ = read_y4m_header(*line);
  start_ = line->size() + 1;
}

FrameCount Y4mFrames::count() const {
  const std::optional<std::uint64_t> size = stream_.size();
  if (!size) return {};
  const std::uint64_t frame =
      frame_word.size() + 1 + header_.luminance_bytes() + header_.chroma_bytes();
  return {static_cast<std::size_t>((*size - std::min(*size, start_)) / frame), false};
}

/// Reads the line that starts a frame. Returns false at the end, or if there is no such line.
bool Y4mFrames::begin_frame() {
  if (ended_ || stream_.at_end()) {
    ended_ = true;
    return false;
  }
  const std::optional<std::string> line = stream_.read_line(longest_line);
  if (line && (*line == frame_word || line->starts_with("FRAME "))) return true;
  trouble_ = fmt::format("is damaged: frame {} does not begin with the word FRAME", next_);
  ended_ = true;
  return false;
}

bool Y4mFrames::end_frame(bool whole) {
  if (whole && stream_.skip(header_.chroma_bytes()) == header_.chroma_bytes()) {
    ++next_;
    return true;
  }
  trouble_ = fmt::format("is truncated: it ends within frame {}", next_);
  ended_ = true;
  return false;
}

/// Allocates memory as bytes arrive, because a header may claim more than the stream holds.
bool Y4mFrames::read_luminance(LoadedImage& image) {
  constexpr std::size_t step = std::size_t{1} << 24;
  const std::size_t wanted = header_.luminance_bytes();
  std::size_t filled = 0;
  while (filled < wanted) {
    image.pixels.resize(std::min(wanted, filled + step));
    const std::size_t got = stream_.read(std::span(image.pixels).subspan(filled));
    if (got < image.pixels.size() - filled) return false;
    filled += got;
  }
  return true;
}

std::optional<Frame> Y4mFrames::next() {
  if (!begin_frame()) return {};
  Frame frame{fmt::format("{}[{}]", name_, next_), stem_, {}, {}};
  frame.image = {header_.width,
                 header_.height,
                 1,
                 header_.format.bits > 8 ? PixelType::u16 : PixelType::u8,
                 {}};
  if (!end_frame(read_luminance(frame.image))) return {};
  return frame;
}

bool Y4mFrames::skip() {
  if (!begin_frame()) return false;
  return end_frame(stream_.skip(header_.luminance_bytes()) == header_.luminance_bytes());
}

}  // namespace warpalign::program

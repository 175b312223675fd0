// Writes aligned frames to a gray YUV4MPEG2 video.
#include "io/frames/video_sink.hpp"

#include "io/frames/y4m_header.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace warpalign::program {
namespace {

constexpr std::string_view frame_line = "FRAME\n";

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void write_to_stdout(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) {
      throw FileError("--output-video -: the program that reads the video has ended");
    }
    if (written < 0) {
      throw FileError(fmt::format("--output-video -: standard output cannot be written ({})",
                                  std::strerror(errno)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace

void check_video_frames(const LoadedImage& frame) {
  const bool fits = frame.type == PixelType::u8 || frame.type == PixelType::u16;
  if (frame.channels == 1 && fits) return;
  throw FileError(fmt::format(
      "--output-video: writes gray frames of 8 or 16 bits, but these are {}; use --output with a "
      "name that ends in .tif or .npy",
      describe(frame)));
}

VideoSink::VideoSink(const std::string& name, const LoadedImage& frame, const VideoFormat* format,
                     std::optional<std::size_t> kept)
    : name_(name) {
  check_video_frames(frame);
  VideoFormat written = format == nullptr ? VideoFormat{} : *format;
  if (format == nullptr && frame.type == PixelType::u16) written.bits = 16;
  bits_ = written.bits;
  shown_ = make_image(frame.width, frame.height, 1, frame.type);
  const std::string header = gray_y4m_header(frame.width, frame.height, written);
  if (name_ == "-") {
    ::signal(SIGPIPE, SIG_IGN);  // so that write() returns an error instead
    write_to_stdout(bytes_of(header));
    return;
  }
  file_.emplace(name, bytes_of(header), frame_line.size() + shown_.pixels.size(), kept);
  written_ = file_->records();
  if (written_ > 0) file_->read_end_of_last(shown_.pixels);
}

bool VideoSink::lacks(std::size_t index, const std::string& /*stem*/) const {
  return index >= written_;
}

/// Limits samples to their number of bits: splines overshoot, so 10-bit samples may exceed 1023.
void VideoSink::take_pixels(const LoadedImage& aligned) {
  shown_.pixels = aligned.pixels;
  if (bits_ == 8 || bits_ == 16) return;
  const auto largest = static_cast<std::uint16_t>((1U << static_cast<unsigned>(bits_)) - 1);
  for (std::uint16_t& sample : shown_.samples<std::uint16_t>()) sample = std::min(sample, largest);
}

void VideoSink::write(std::size_t /*index*/, const std::string& /*stem*/,
                      std::span<const LoadedImage> aligned) {
  if (!aligned.empty()) take_pixels(aligned.front());
  if (file_) {
    file_->append(bytes_of(frame_line), shown_.pixels);
  } else {
    write_to_stdout(bytes_of(frame_line));
    write_to_stdout(shown_.pixels);
  }
  ++written_;
}

std::string VideoSink::name_of(std::size_t index, const std::string& /*stem*/) const {
  return fmt::format("{}[{}]", name_, index);
}

void VideoSink::sync() {
  if (file_) file_->sync();
}

void VideoSink::commit() {
  if (file_) file_->commit();
}

}  // namespace warpalign::program

// Writes aligned frames to one array in a .npy file. The number of frames is written at the end.
#include "io/frames/npy_sink.hpp"

#include "io/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace warpalign::program {

NpySink::NpySink(const std::filesystem::path& path, const LoadedImage& plane,
                 std::optional<std::size_t> kept, const RecordingFormat& format,
                 std::optional<std::size_t> count)
    : path_(path),
      type_(plane.type),
      layout_(plane, format),
      count_(count.value_or(0)),
      file_(path, kept ? Unfinished::kept : Unfinished::removed),
      header_bytes_(header(0).size()) {
  if (!layout_.has_whole_frames() && !count) {
    throw FileError(fmt::format(
        "{}: an array with the axes {} needs the number of frames in advance; name one input "
        "file, or write .tif",
        path.string(), layout_.letters()));
  }
  open(kept);
}

/// Its size does not depend on the number of frames.
std::vector<std::byte> NpySink::header(std::size_t frames) const {
  constexpr std::size_t header_bytes = 128;
  return npy_header(layout_.extents(frames), type_, header_bytes);
}

void NpySink::open(std::optional<std::size_t> kept) {
  const std::uint64_t frame = layout_.blocks() * layout_.block_bytes();
  const std::uint64_t size = file_.size();
  const std::uint64_t whole = size > header_bytes_ ? (size - header_bytes_) / frame : 0;
  if (layout_.has_whole_frames()) {
    frames_ = static_cast<std::size_t>(std::min<std::uint64_t>(whole, kept.value_or(0)));
    file_.truncate(frames_ == 0 ? 0 : header_bytes_ + frames_ * frame);
    if (frames_ == 0) file_.write(header(0));
    return;
  }
  frames_ = whole == count_ ? kept.value_or(0) : 0;
  if (frames_ > 0) return;
  file_.truncate(0);
  file_.write(header(count_));
  file_.truncate(header_bytes_ + count_ * frame);
}

bool NpySink::lacks(std::size_t index, const std::string& /*stem*/) const {
  return index >= frames_;
}

void NpySink::write(std::size_t index, const std::string& /*stem*/,
                    std::span<const LoadedImage> aligned) {
  const std::vector<std::byte> bytes = layout_.frame_bytes(aligned);
  if (layout_.has_whole_frames()) {
    file_.write(bytes);
  } else {
    const std::size_t block = layout_.block_bytes();
    for (std::size_t i = 0; index < count_ && i < layout_.blocks(); ++i) {
      file_.write_at(header_bytes_ + (i * count_ + index) * block,
                     std::span(bytes).subspan(i * block, block));
    }
  }
  ++frames_;
}

std::string NpySink::name_of(std::size_t index, const std::string& /*stem*/) const {
  return fmt::format("{}[{}]", name(), index);
}

void NpySink::commit() {
  file_.write_at(0, header(layout_.has_whole_frames() ? frames_ : count_));
  file_.commit();
}

}  // namespace warpalign::program

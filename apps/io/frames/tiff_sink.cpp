// Writes aligned frames to one TIFF file, a page for each plane.
#include "io/frames/tiff_sink.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace warpalign::program {

TiffSink::TiffSink(const std::filesystem::path& path, const LoadedImage& plane,
                   std::optional<std::size_t> count, std::optional<std::size_t> kept,
                   const RecordingFormat& format)
    : path_(path.string()),
      layout_(plane, format, count),
      zeros_(format.planes(), make_image(plane.width, plane.height, plane.channels, plane.type)) {
  file_.emplace(path, layout_.header(count.value_or(0)), layout_.record_bytes(), kept);
}

bool TiffSink::lacks(std::size_t index, const std::string& /*stem*/) const {
  return index >= file_->records();
}

void TiffSink::write(std::size_t index, const std::string& /*stem*/,
                     std::span<const LoadedImage> aligned) {
  const std::uint64_t next = file_->offset_of(index + 1);
  if (!layout_.is_big() && !layout_.is_contiguous() &&
      next > std::numeric_limits<std::uint32_t>::max()) {
    throw FileError(
        fmt::format("{}: there are more frames than expected, and TIFF holds 4 GB at most; use a "
                    "name that ends in .npy",
                    path_));
  }
  std::vector<std::vector<std::byte>> directories;
  file_->append(layout_.record(index, file_->offset_of(index),
                               aligned.empty() ? std::span<const LoadedImage>(zeros_) : aligned,
                               directories));
}

std::string TiffSink::name_of(std::size_t index, const std::string& /*stem*/) const {
  return fmt::format("{}[{}]", path_, index);
}

/// Ends the chain of pages by setting the next offset of the last page to 0, and writes the
/// description for the number of frames that there are.
void TiffSink::commit() {
  const std::size_t last = file_->records() - 1;
  if (const auto end = layout_.end_of_chain(last, file_->offset_of(last))) {
    const std::array<std::byte, 8> none{};
    file_->write_at(*end, std::span(none).first(layout_.is_big() ? 8 : 4));
  }
  file_->write_at(0, layout_.header(file_->records()));
  file_->commit();
}

}  // namespace warpalign::program

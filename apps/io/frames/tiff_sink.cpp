// Writes aligned frames to one TIFF file, a page for each frame.
#include "io/frames/tiff_sink.hpp"

#include "io/codecs/tiff_record.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace warpalign::program {
namespace {

constexpr std::uint64_t small_limit = std::numeric_limits<std::uint32_t>::max();

}  // namespace

TiffSink::TiffSink(const std::filesystem::path& path, const LoadedImage& frame,
                   std::optional<std::size_t> count, std::optional<std::size_t> kept)
    : path_(path.string()),
      page_(make_image(frame.width, frame.height, frame.channels, frame.type)) {
  const std::uint64_t room = small_limit - tiff_header(false).size();
  big_ = !count || *count > room / tiff_record_bytes(page_, false);
  file_.emplace(path, tiff_header(big_), tiff_record_bytes(page_, big_), kept);
}

bool TiffSink::lacks(std::size_t index, const std::string& /*stem*/) const {
  return index >= file_->records();
}

void TiffSink::write(std::size_t index, const std::string& /*stem*/, const LoadedImage* aligned) {
  const std::uint64_t next = file_->offset_of(index + 1);
  if (!big_ && next > small_limit) {
    throw FileError(
        fmt::format("{}: there are more frames than expected, and TIFF holds 4 GB at most; use a "
                    "name that ends in .npy",
                    path_));
  }
  const LoadedImage& image = aligned == nullptr ? page_ : *aligned;
  file_->append(tiff_directory(page_, big_, file_->offset_of(index), next), image.pixels);
}

std::string TiffSink::name_of(std::size_t index, const std::string& /*stem*/) const {
  return fmt::format("{}[{}]", path_, index);
}

/// Ends the chain of pages by setting the next offset of the last page to 0.
void TiffSink::commit() {
  const std::array<std::byte, 8> none{};
  const std::uint64_t last = file_->offset_of(file_->records() - 1);
  file_->write_at(last + tiff_next_position(big_), std::span(none).first(big_ ? 8 : 4));
  file_->commit();
}

}  // namespace warpalign::program

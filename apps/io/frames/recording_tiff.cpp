// Lays out a TIFF file that holds the planes of a recording.
#include "io/frames/recording_tiff.hpp"

#include "io/frames/recording_text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::uint64_t tiff_limit = std::numeric_limits<std::uint32_t>::max();
/// The most planes of which the description lists the pages one by one.
constexpr std::size_t most_listed_planes = std::size_t{1} << 16;
/// More frames than this do not lengthen a description.
constexpr std::size_t most_frames = 99999999;
constexpr std::array<std::byte, 16> padding{};

std::uint64_t rounded_up(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

std::size_t pixel_bytes(const LoadedImage& image) {
  return image.row_bytes() * static_cast<std::size_t>(image.height);
}

}  // namespace

RecordingTiff::RecordingTiff(const LoadedImage& plane, RecordingFormat format,
                             std::optional<std::size_t> frames)
    : plane_{plane.width, plane.height, plane.channels, plane.type, {}},
      format_(with_description(std::move(format), plane)) {
  if (frames.value_or(most_frames) > most_listed_planes / format_.planes()) format_.order = "TZC";
  const std::string text = recording_text(format_, frames.value_or(most_frames));
  description_bytes_ = text.empty() ? 0 : text.size() + 1;
  counts_at_ = rounded_up(description_at_ + description_bytes_);
  bytes_at_ = rounded_up(counts_at_ + 4 * format_.imagej_tags.counts.size());
  directory_at_ = rounded_up(bytes_at_ + format_.imagej_tags.bytes.size());
  room_ = tags_of(0).count();
  const std::uint64_t room = tiff_limit - directory_at_;
  const bool fits = frames && *frames <= room / record_bytes();
  contiguous_ = !fits && format_.metadata == RecordingFormat::Metadata::imagej;
  big_ = !fits && !contiguous_;
}

TiffTags RecordingTiff::tags_of(std::size_t page) const {
  TiffTags tags;
  tags.resolution = format_.resolution;
  if (page > 0) return tags;
  tags.description = {description_at_, description_bytes_};
  const ImageJTags& imagej = format_.imagej_tags;
  if (imagej.bytes.empty()) return tags;
  tags.imagej_counts = {counts_at_, 4 * imagej.counts.size()};
  std::copy_n(imagej.counts.begin(), 2, tags.first_counts.begin());
  tags.imagej_bytes = {bytes_at_, imagej.bytes.size()};
  return tags;
}

std::uint64_t RecordingTiff::page_bytes() const {
  return contiguous_ ? pixel_bytes(plane_) : tiff_record_bytes(plane_, big_, room_);
}

std::uint64_t RecordingTiff::record_bytes() const { return format_.planes() * page_bytes(); }

std::vector<std::byte> RecordingTiff::header(std::size_t frames) const {
  std::vector<std::byte> header = tiff_header(big_, directory_at_);
  header.resize(directory_at_);
  if (description_bytes_ > 0) {
    std::string text = recording_text(format_, frames);
    if (text.size() >= description_bytes_) {  // there are more frames than expected
      RecordingFormat in_order = format_;
      in_order.order = "TZC";
      text = recording_text(in_order, frames);
    }
    text = padded_text(format_, text, description_bytes_ - 1);
    std::memcpy(header.data() + description_at_, text.data(),
                std::min(text.size(), description_bytes_ - 1));
  }
  const ImageJTags& imagej = format_.imagej_tags;
  if (!imagej.bytes.empty()) {
    std::memcpy(header.data() + counts_at_, imagej.counts.data(), 4 * imagej.counts.size());
    std::ranges::copy(imagej.bytes, header.begin() + static_cast<std::ptrdiff_t>(bytes_at_));
  }
  if (contiguous_) {
    const auto directory = tiff_directory(plane_, false, directory_at_, 0, tags_of(0), room_);
    header.insert(header.end(), directory.begin(), directory.end());
  }
  return header;
}

std::vector<std::span<const std::byte>> RecordingTiff::record(
    std::size_t index, std::uint64_t offset, std::span<const LoadedImage> planes,
    std::vector<std::vector<std::byte>>& directories) const {
  std::vector<std::span<const std::byte>> pieces;
  directories.clear();
  directories.reserve(planes.size());
  for (std::size_t i = 0; i < planes.size(); ++i, offset += page_bytes()) {
    if (!contiguous_) {
      directories.push_back(tiff_directory(plane_, big_, offset, offset + page_bytes(),
                                           tags_of(index * planes.size() + i), room_));
      pieces.emplace_back(directories.back());
    }
    pieces.emplace_back(planes[i].pixels);
    if (contiguous_) continue;
    const std::size_t bytes = planes[i].pixels.size();
    pieces.push_back(std::span(padding).first(rounded_up(bytes) - bytes));
  }
  return pieces;
}

std::optional<std::uint64_t> RecordingTiff::end_of_chain(std::size_t index,
                                                         std::uint64_t offset) const {
  if (contiguous_) return {};
  const std::size_t last = format_.planes() - 1;
  const std::size_t page = index * format_.planes() + last;
  return offset + last * page_bytes() + tiff_next_position(big_, tags_of(page).count());
}

}  // namespace warpalign::program

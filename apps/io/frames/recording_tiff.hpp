// Lays out a TIFF file that holds the planes of a recording.
#pragma once

#include "io/codecs/tiff_record.hpp"
#include "io/frames/recording_format.hpp"
#include "io/image_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// A header with the description, and a record of equal size for each frame. A page for each plane,
/// in TIFF, or in BigTIFF if 4 GB may not suffice. ImageJ reads no BigTIFF: its files then have one
/// directory, in the header, and the pixels of all planes follow without gaps.
class RecordingTiff {
 public:
  /// `plane`: any plane, for its shape and type. `frames`: their number, if known.
  RecordingTiff(const LoadedImage& plane, RecordingFormat format,
                std::optional<std::size_t> frames);

  [[nodiscard]] bool is_big() const { return big_; }
  [[nodiscard]] bool is_contiguous() const { return contiguous_; }
  /// The bytes before the first record, in a size that does not depend on the number of frames.
  [[nodiscard]] std::vector<std::byte> header(std::size_t frames) const;
  [[nodiscard]] std::uint64_t record_bytes() const;
  /// The pieces of a record: directories, which the pieces refer to, pixels and padding. `offset`:
  /// of the record. `index`: of the frame. `planes`: its planes.
  [[nodiscard]] std::vector<std::span<const std::byte>> record(
      std::size_t index, std::uint64_t offset, std::span<const LoadedImage> planes,
      std::vector<std::vector<std::byte>>& directories) const;
  /// The position of the offset that must become 0 after the last frame, whose record is at
  /// `offset`; nothing if no directory follows another one.
  [[nodiscard]] std::optional<std::uint64_t> end_of_chain(std::size_t index,
                                                          std::uint64_t offset) const;

 private:
  [[nodiscard]] TiffTags tags_of(std::size_t page) const;
  [[nodiscard]] std::uint64_t page_bytes() const;

  LoadedImage plane_;  ///< without pixels
  RecordingFormat format_;
  bool big_ = false;
  bool contiguous_ = false;
  std::size_t room_ = 0;               ///< the most additional tags of a page
  std::size_t description_bytes_ = 0;  ///< with its NUL; 0 without a description
  std::uint64_t description_at_ = 16;
  std::uint64_t counts_at_ = 0;
  std::uint64_t bytes_at_ = 0;
  std::uint64_t directory_at_ = 0;  ///< of the first page
};

}  // namespace warpalign::program

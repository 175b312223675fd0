// Encodes uncompressed TIFF pages whose directories precede their pixels.
#pragma once

#include "io/codecs/tiff_resolution.hpp"
#include "io/image_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace warpalign::program {

/// Tags of a page beyond those that describe its pixels. Offsets are in the file.
struct TiffTags {
  struct Block {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  ///< 0: the tag is left out
  };
  Block description;  ///< with the NUL at its end
  std::optional<TiffResolution> resolution;
  Block imagej_counts;
  std::array<std::uint32_t, 2> first_counts{};  ///< which BigTIFF stores in place of an offset if
                                                ///< there are no others
  Block imagej_bytes;

  [[nodiscard]] std::size_t count() const {
    return (description.bytes > 0 ? 1U : 0U) + (resolution ? 3U : 0U) +
           (imagej_bytes.bytes > 0 ? 2U : 0U);
  }
};

/// The start of a file, with the offset of its first directory.
[[nodiscard]] std::vector<std::byte> tiff_header(bool big, std::uint64_t first = 16);

/// A page's directory with all its values, which the pixels follow immediately. `image`: the page's
/// shape and type. `offset`: of the directory. `next`: offset of the next directory, 0 for none.
/// `room`: the largest number of tags of any page of the file, for pages of equal size.
[[nodiscard]] std::vector<std::byte> tiff_directory(const LoadedImage& image, bool big,
                                                    std::uint64_t offset, std::uint64_t next,
                                                    const TiffTags& tags = {},
                                                    std::size_t room = 0);

/// The position of the next directory's offset in a directory with so many additional tags: 4
/// bytes, or 8 if big.
[[nodiscard]] std::size_t tiff_next_position(bool big, std::size_t tags = 0);

/// The size of a page with its directory, rounded up so that directories are aligned.
[[nodiscard]] std::uint64_t tiff_record_bytes(const LoadedImage& image, bool big,
                                              std::size_t room = 0);

}  // namespace warpalign::program

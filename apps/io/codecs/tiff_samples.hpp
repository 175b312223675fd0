// The samples of a TIFF page as the file stores them, and their conversion to an image.
#pragma once

#include "io/codecs/tiff_page.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::program {

/// The bytes of a sample in memory: packed bits take a whole number of bytes.
[[nodiscard]] std::size_t unpacked_bytes(const TiffPage& page);

/// Unpacks a row of samples of 1 to 16 bits, the highest bit first.
void unpack_bits(std::span<const std::byte> packed, const TiffPage& page, std::size_t samples,
                 std::byte* unpacked);

/// The image of the kept samples, unpacked. Throws FileError for integers of 64 bits that do not
/// fit into 32.
[[nodiscard]] LoadedImage image_of_samples(TIFF* tiff, const TiffPage& page,
                                           std::vector<std::byte> samples);

}  // namespace warpalign::program

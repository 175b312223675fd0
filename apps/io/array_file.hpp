// Reads and writes the files of the interpolation commands: images, channel by channel, and .npy
// arrays.
#pragma once

#include "io/npy.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace warpalign::program {

/// The arrays of one file, all with the same extents and type: the channels of an image, or the
/// array of a .npy file.
struct ArrayFile {
  std::vector<Array> channels;
  std::string description;

  [[nodiscard]] const Array& first() const { return channels.front(); }
};

/// Reads an image or a .npy file, distinguished by content. Throws FileError.
[[nodiscard]] ArrayFile load_array_file(const std::filesystem::path& path);

/// Throws FileError if the extension is neither .npy nor that of an image format.
void check_written_name(const std::filesystem::path& path);

/// Throws FileError unless the format of the name can hold such arrays unchanged: .npy holds one
/// array of any kind; image formats hold one or three (colour) of two dimensions and real numbers.
/// Also refuses arrays that are too large.
void check_storable(const std::filesystem::path& path, std::size_t channels,
                    const std::vector<std::int64_t>& extents, PixelType type);

/// Encodes a file in the format of the name. Throws FileError.
[[nodiscard]] std::vector<std::byte> encode_arrays(const std::filesystem::path& path,
                                                   const std::vector<Array>& channels);

/// Splits an image into its channels.
[[nodiscard]] std::vector<Array> split_channels(const LoadedImage& image);
/// Joins 1 or 3 arrays of two dimensions to an image. Throws FileError if a side is too long.
[[nodiscard]] LoadedImage join_channels(const std::vector<Array>& channels);

/// Converts to single precision: f32 for real numbers, c32 for complex ones.
[[nodiscard]] Array to_float(const Array& array);
/// Converts real numbers to double precision.
[[nodiscard]] Array to_double(const Array& array);
/// Converts numbers in double precision to a type of real numbers. Integers are rounded to the
/// nearest (halves away from zero) and saturated; NaN becomes 0.
[[nodiscard]] Array from_double(const Array& numbers, PixelType type);

}  // namespace warpalign::program

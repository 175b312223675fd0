// What the interpolation commands read and write: images, channel by channel, and .npy arrays.
#pragma once

#include "io/npy.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace warpalign::program {

/// The arrays of one file, all of the same extents and type: an image's channels, or one of a .npy
/// file.
struct ArrayFile {
  std::vector<Array> channels;
  std::string description;

  [[nodiscard]] const Array& first() const { return channels.front(); }
};

/// Reads an image or a .npy file, told apart by their content. Throws FileError.
[[nodiscard]] ArrayFile load_array_file(const std::filesystem::path& path);

/// Throws FileError for a name whose extension is neither .npy nor that of an image format.
void check_written_name(const std::filesystem::path& path);

/// Throws FileError unless the format of the name can hold such arrays unchanged: .npy holds one
/// of any kind, image formats hold one or three (colour) of two dimensions and real numbers. Arrays
/// that are too large are refused as well.
void check_storable(const std::filesystem::path& path, std::size_t channels,
                    const std::vector<std::int64_t>& extents, PixelType type);

/// The bytes of a file in the format of the name. Throws FileError.
[[nodiscard]] std::vector<std::byte> encode_arrays(const std::filesystem::path& path,
                                                   const std::vector<Array>& channels);

/// An image's channels.
[[nodiscard]] std::vector<Array> split_channels(const LoadedImage& image);
/// The reverse: of 1 or 3 arrays of two dimensions. Throws FileError for sides beyond an image's.
[[nodiscard]] LoadedImage join_channels(const std::vector<Array>& channels);

/// The numbers in single precision: f32 for real ones, c32 for complex ones.
[[nodiscard]] Array to_float(const Array& array);

}  // namespace warpalign::program

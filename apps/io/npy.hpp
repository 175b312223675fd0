// Loads and encodes arrays in NumPy's .npy files.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// The largest extent of an array along one axis: the library's own limit.
inline constexpr std::int64_t max_extent = std::int64_t{1} << 30;
/// Larger arrays are refused before memory is allocated for them.
inline constexpr std::int64_t max_array_bytes = std::int64_t{8} << 30;

/// Numbers in memory: dense, in C order, in the machine's byte order.
struct Array {
  std::vector<std::int64_t> extents;  ///< as NumPy's shape: the slowest axis first
  PixelType type = PixelType::f32;
  std::vector<std::byte> bytes;

  [[nodiscard]] int dimensions() const noexcept { return static_cast<int>(extents.size()); }
  /// The extents of 1 to 3 axes as (width, height, depth); 1 for those that are missing.
  [[nodiscard]] Shape shape() const noexcept;
  /// The numbers as `Sample`, which must be what `type` says.
  template <typename Sample>
  [[nodiscard]] std::span<const Sample> samples() const noexcept {
    return {reinterpret_cast<const Sample*>(bytes.data()), bytes.size() / sizeof(Sample)};
  }
  template <typename Sample>
  [[nodiscard]] std::span<Sample> samples() noexcept {
    return {reinterpret_cast<Sample*>(bytes.data()), bytes.size() / sizeof(Sample)};
  }
};

/// Throws FileError, naming `path`, for an array that make_array() refuses.
void check_extents(const std::filesystem::path& path, const std::vector<std::int64_t>& extents,
                   PixelType type);

/// An array of zeros. Throws FileError unless every extent is 1 to `max_extent`, and all of it
/// at most `max_array_bytes`.
[[nodiscard]] Array make_array(const std::vector<std::int64_t>& extents, PixelType type);

/// "480 x 640, uint8": NumPy's order and names.
[[nodiscard]] std::string describe(const Array& array);

/// Whether the file starts like a .npy file. Throws FileError if it cannot be read.
[[nodiscard]] bool is_npy(const std::filesystem::path& path);
/// Whether the name ends in .npy.
[[nodiscard]] bool is_npy_name(const std::filesystem::path& path);

/// Reads .npy files of version 1 to 3, of 1 to `max_dimensions` axes, in either order of axes and
/// of bytes: bool (as uint8), integers of 8 to 32 bits, float16, float32, float64 and complex64.
/// Throws FileError.
[[nodiscard]] Array load_npy(const std::filesystem::path& path, int max_dimensions = 3);

/// The same from a file's bytes; the messages do not name the file.
[[nodiscard]] Array read_npy(std::span<const std::byte> file, int max_dimensions);
/// The bytes in front of the numbers, version 1: as many as are needed for them to be aligned, and
/// at least `least`.
[[nodiscard]] std::vector<std::byte> npy_header(const std::vector<std::int64_t>& extents,
                                                PixelType type, std::size_t least = 0);
/// The bytes of a .npy file, version 1.
[[nodiscard]] std::vector<std::byte> write_npy(const Array& array);

}  // namespace warpalign::program

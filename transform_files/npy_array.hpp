// NumPy's arrays in files (.npy).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::transform_files {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
inline constexpr std::size_t max_npy_extent = std::size_t{1} << 30;

struct NpyArray {
  std::string type{};  ///< as in the header, such as <f8
  std::vector<std::size_t> shape{};
  bool fortran = false;  ///< whether the first axis is the one of neighbours in memory
  std::string_view data{};

  /// The number of elements. Throws Error(invalid_argument) above 2^31.
  [[nodiscard]] std::size_t count() const;
  /// The elements of an array of float32 or float64. Throws Error(invalid_argument) for others, and
  /// unless the data has their size.
  [[nodiscard]] std::vector<double> reals() const;
};

/// Throws Error(invalid_argument) for bytes that are no array, and for extents beyond
/// max_npy_extent. The array refers to the bytes.
[[nodiscard]] NpyArray npy_array_of(std::string_view bytes);
/// The file's bytes in front of the elements.
[[nodiscard]] std::string npy_start(std::string_view type, std::span<const std::size_t> shape);

}  // namespace warpalign::transform_files

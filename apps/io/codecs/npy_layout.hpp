// How a .npy file holds its numbers, as its header says.
#pragma once

#include "io/codecs/codecs.hpp"

#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::program {

struct NpyLayout {
  std::vector<std::int64_t> extents;  ///< as NumPy's shape: the slowest axis first
  PixelType type = PixelType::f32;
  std::size_t word = 4;  ///< bytes that stand in the file's byte order; a complex number has two
                         ///< such words
  bool big_endian = false;
  bool fortran_order = false;
  std::size_t start = 0;  ///< where the numbers begin
};

/// `file`: all of it, or as much as holds its header. Throws FileError.
[[nodiscard]] NpyLayout read_npy_layout(Bytes file);

}  // namespace warpalign::program

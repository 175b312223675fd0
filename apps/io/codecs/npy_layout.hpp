// The layout of a .npy file, from its header.
#pragma once

#include "io/codecs/codecs.hpp"

#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::program {

struct NpyLayout {
  std::vector<std::int64_t> extents;  ///< NumPy's shape: the slowest axis first
  PixelType type = PixelType::f32;
  std::size_t word = 4;  ///< size in bytes of the unit of the byte order; a complex number
                         ///< has two such words
  bool big_endian = false;
  bool fortran_order = false;
  std::size_t start = 0;  ///< offset of the first number
  bool wide = false;      ///< integers of 64 bits in the file, which become `type` of 32 bits

  [[nodiscard]] std::size_t stored_bytes() const { return wide ? 8 : size_of(type); }
};

/// `file`: the complete file, or at least its header. Throws FileError.
[[nodiscard]] NpyLayout read_npy_layout(Bytes file);

}  // namespace warpalign::program

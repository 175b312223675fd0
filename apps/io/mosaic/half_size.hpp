// Halves the width and the height of a picture, for the levels of a pyramid.
#pragma once

#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::program {

/// Interleaved pixels of u8, u16 or f32 in dense rows.
struct PictureRows {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  PixelType type = PixelType::u8;
  std::vector<std::byte> pixels;
};

/// The means of 2 x 2 pixels, or of those that exist at the last column and row if their number is
/// odd. Integers are rounded to the nearest.
[[nodiscard]] PictureRows half_size(const PictureRows& rows);

}  // namespace warpalign::program

// How a frame lies on the first frame's pixel grid, or a moving image on the reference's.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/geometry.hpp>

#include <cstdint>

namespace warpalign::program {

class GridMap {
 public:
  GridMap() = default;
  GridMap(const GridMap&) = delete;
  GridMap& operator=(const GridMap&) = delete;
  virtual ~GridMap() = default;

  /// The frame resampled onto the grid, in its own type and channels; 0 outside of the frame.
  [[nodiscard]] virtual LoadedImage warp(const LoadedImage& frame) = 0;
  /// Where the grid's pixel is read in the frame.
  [[nodiscard]] virtual Point at(std::int64_t x, std::int64_t y) const = 0;
};

}  // namespace warpalign::program

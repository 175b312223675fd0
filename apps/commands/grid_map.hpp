// Maps the first frame's pixel grid to a frame, or the reference's to a moving image.
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

  /// Resamples a plane of the frame to the grid, in its type and channels, with 0 outside the
  /// frame.
  [[nodiscard]] virtual LoadedImage warp(const LoadedImage& plane) = 0;
  /// The same for a plane as it is stored, in which samples may have a value that stands for
  /// missing ones.
  [[nodiscard]] virtual LoadedImage warp_stored(const LoadedImage& plane) { return warp(plane); }
  /// The point of the frame that corresponds to the pixel of the grid.
  [[nodiscard]] virtual Point at(std::int64_t x, std::int64_t y) const = 0;
};

}  // namespace warpalign::program

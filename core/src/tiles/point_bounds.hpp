// Between which coordinates the points of a box lie.
#pragma once

#include "tiles/axis_cut.hpp"

#include <warpalign/tiles.hpp>

#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// The bounds of coordinates along one axis, in any box of the output. Tiles are tried in many
/// sizes, so that the bounds of small blocks are found once, and a box reads only the coordinates
/// of blocks that it shares with others.
class PointBounds {
 public:
  /// `coordinates`: one for each pixel of `output`; they are read later, too.
  PointBounds(const float* coordinates, const Shape& output, std::size_t threads);

  /// NaN reads nothing; where there is nothing else, the bounds are 0.
  [[nodiscard]] Interval of(const Region& region) const;

 private:
  struct Extremes {
    float low;
    float high;
  };

  [[nodiscard]] Extremes read(const Region& part_of_block) const;
  [[nodiscard]] Region block(std::int64_t x, std::int64_t y, std::int64_t z) const;
  [[nodiscard]] std::size_t index_of(std::int64_t x, std::int64_t y, std::int64_t z) const;

  const float* coordinates_;
  Shape output_;
  Shape blocks_;  ///< their number along each axis
  std::vector<Extremes> extremes_;
};

}  // namespace warpalign::detail

// The bounds of the points of a box.
#pragma once

#include "tiles/axis_cut.hpp"

#include <warpalign/tiles.hpp>

#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// The bounds of coordinates along one axis, in any box of the output. The search for the largest
/// tiles needs the bounds of many boxes. So the constructor computes the bounds of small blocks
/// once, and a box reads the coordinates only of blocks that it contains partly.
class PointBounds {
 public:
  /// `coordinates`: one for each pixel of `output`. They must outlive this object.
  PointBounds(const float* coordinates, const Shape& output, std::size_t threads);

  /// The bounds in a box. NaN is ignored; if all coordinates are NaN, the bounds are 0.
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
  Shape blocks_;  ///< number of blocks along each axis
  std::vector<Extremes> extremes_;
};

}  // namespace warpalign::detail

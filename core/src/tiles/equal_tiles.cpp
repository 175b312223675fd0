// Tiles of the same shape, which share a plan and its memory.
#include "tiles/equal_tiles.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace warpalign::detail {
namespace {

std::array<std::int64_t*, 3> lengths_of(Shape& shape) {
  return {&shape.width, &shape.height, &shape.depth};
}
std::array<std::int64_t, 3> lengths_of(const Shape& shape) {
  return {shape.width, shape.height, shape.depth};
}

/// A region of shape `shape` that contains `region` and ends within `all`.
Region moved_within(const Shape& all, const Region& region, const Shape& shape) {
  Region moved{region.begin, shape};
  const auto ends = lengths_of(all);
  const auto lengths = lengths_of(std::as_const(shape));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    moved.begin[axis] = std::min(region.begin[axis], ends[axis] - lengths[axis]);
  }
  return moved;
}

void grow_to(Shape& shape, const Shape& other) {
  const auto lengths = lengths_of(shape);
  const auto others = lengths_of(other);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    *lengths[axis] = std::max(*lengths[axis], others[axis]);
  }
}

/// Changes the tile's input to another region, and the transform with it.
void set_input(Tile& tile, const Region& input) {
  std::array<double, 16>& m = tile.output_to_input.m;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto shift = static_cast<double>(tile.input.begin[axis] - input.begin[axis]);
    for (std::size_t i = 0; i < 4; ++i) m[4 * axis + i] += shift * m[12 + i];
  }
  tile.input = input;
}

}  // namespace

std::vector<Tile> equal_tiles(const ResampleSpec& spec, std::vector<Tile> tiles,
                              const std::function<Tile(const Region&)>& tile_of_region,
                              const MemoryLimit& limit) {
  const bool periodic =
      spec.spline.boundary == Boundary::wrap || spec.spline.boundary == Boundary::grid_wrap;
  if (tiles.size() < 2 || periodic) return tiles;
  // The first tile does not lie at the end of the output.
  const Shape output = tiles.front().output.shape;
  std::vector<Tile> equal;
  Shape input{1, 1, 1};
  Boundary boundary = Boundary::mirror;
  for (const Tile& tile : tiles) {
    equal.push_back(tile_of_region(moved_within(spec.output, tile.output, output)));
    grow_to(input, equal.back().input.shape);
    if (equal.back().boundary != Boundary::mirror) boundary = equal.back().boundary;
  }
  for (Tile& tile : equal) {
    set_input(tile, moved_within(spec.images.shape, tile.input, input));
    tile.boundary = boundary;
  }
  return fits(spec, equal.front(), limit) ? equal : tiles;
}

}  // namespace warpalign::detail

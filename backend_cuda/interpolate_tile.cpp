// The part of the source that a tile of the output needs.
#include "interpolate_tile.hpp"

#include <warpalign/backend/tiles.hpp>

namespace warpalign::cuda {

static_assert(fixed_point == backend::tile_fixed_point);

namespace {

Shape shape_of(const OutputImage& output) { return {output.width, output.height, output.depth}; }

}  // namespace

bool all_near(const Evaluation& e, int dimensions) {
  return backend::all_near(e.points.m, shape_of(e.output), dimensions);
}

template <int dimensions>
std::optional<TileSource<dimensions>> tile_source(const Evaluation& e, int degree) {
  if (e.points.kind != PointKind::affine || e.spline.rules.points == PointRule::period_minus_one) {
    return std::nullopt;
  }
  using Tile = TileShape<dimensions>;
  const auto common = backend::tile_source(e.points.m, shape_of(e.output), dimensions, degree,
                                           {Tile::width, Tile::height, Tile::depth});
  if (!common) return std::nullopt;
  TileSource<dimensions> source;
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    source.extent[axis] = common->extent[axis];
    source.least[axis] = common->least[axis];
    for (std::size_t i = 0; i < dimensions; ++i) {
      source.high[dimensions * axis + i] = common->high[axis][i];
      source.low[dimensions * axis + i] = common->low[axis][i];
    }
  }
  source.words = e.spline.stored[0] % 4 == 0;
  return source;
}
template std::optional<TileSource<2>> tile_source(const Evaluation& e, int degree);
template std::optional<TileSource<3>> tile_source(const Evaluation& e, int degree);

}  // namespace warpalign::cuda

// The part of the source that a tile of the output needs.
#include "spline/tile_source.hpp"

#include "spline/fixed_point.hpp"

#include <warpalign/backend/tiles.hpp>

namespace warpalign::cuda {

template <int dimensions>
std::optional<TileSource<dimensions>> tile_source(const Evaluation& e, int degree,
                                                  const std::array<int, 3>& sides) {
  if (e.points.kind != PointKind::affine) return std::nullopt;
  const Shape output{e.output.width, e.output.height, e.output.depth};
  const auto common = backend::tile_source(e.points.m, output, dimensions, degree, sides);
  if (!common) return std::nullopt;
  TileSource<dimensions> source;
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    source.extent[axis] = common->extent[axis];
    source.minimum[axis] = common->minimum[axis];
    for (std::size_t i = 0; i < dimensions; ++i) {
      source.along[axis][i] = to_fixed(e.points.m[4 * axis + i]);
    }
  }
  source.words = e.spline.stored[0] % 4 == 0;
  return source;
}
template std::optional<TileSource<2>> tile_source(const Evaluation& e, int degree,
                                                  const std::array<int, 3>& sides);
template std::optional<TileSource<3>> tile_source(const Evaluation& e, int degree,
                                                  const std::array<int, 3>& sides);

std::optional<TileSource<2>> plane_source(const Evaluation& e, int degree, int height) {
  return tile_source<2>(e, degree, {PlaneTile::width, height, 1});
}

}  // namespace warpalign::cuda

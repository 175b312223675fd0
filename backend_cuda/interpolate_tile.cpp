// The part of the source that a tile of the output needs.
#include "interpolate_tile.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::cuda {
template <int dimensions>
bool all_near(const Evaluation& e) {
  constexpr double limit = 0x1p29;
  constexpr double far_apart = 4;  // source pixels an output pixel
  const int size[3] = {e.output.width, e.output.height, e.output.depth};
  for (int axis = 0; axis < dimensions; ++axis) {
    const double* m = e.points.m + 4 * axis;
    double reach = std::abs(m[3]);
    for (int i = 0; i < dimensions; ++i) {
      if (!(std::abs(m[i]) <= far_apart)) return false;
      reach += std::abs(m[i]) * size[i];
    }
    if (!(reach < limit)) return false;
  }
  return true;
}
template bool all_near<2>(const Evaluation& e);
template bool all_near<3>(const Evaluation& e);

template <int dimensions>
std::optional<TileSource<dimensions>> tile_source(const Evaluation& e, int degree) {
  if (e.points.kind != PointKind::affine || e.spline.rules.points == PointRule::period_minus_one ||
      !all_near<dimensions>(e)) {
    return std::nullopt;
  }
  using Shape = TileShape<dimensions>;
  constexpr int sides[3] = {Shape::width, Shape::height, Shape::depth};
  TileSource<dimensions> source;
  for (int axis = 0; axis < dimensions; ++axis) {
    double span = 0;
    for (int i = 0; i < dimensions; ++i) {
      const double entry = e.points.m[4 * axis + i];
      const double side = entry * (sides[i] - 1);
      span += std::abs(side);
      source.least[axis] += std::min(side, 0.0);
      const double high = std::rint(entry * fixed_point) / fixed_point;
      source.high[dimensions * axis + i] = static_cast<float>(high);
      source.low[dimensions * axis + i] = static_cast<float>(entry - high);
    }
    // One more on either side: a tie may be rounded either way.
    source.extent[axis] = static_cast<int>(std::ceil(span)) + degree + 1 + 2;
  }
  source.extent[0] = (source.extent[0] + 3 + 3) / 4 * 4;  // whose corner is a multiple of 4
  source.words = e.spline.stored[0] % 4 == 0;
  return source;
}
template std::optional<TileSource<2>> tile_source(const Evaluation& e, int degree);
template std::optional<TileSource<3>> tile_source(const Evaluation& e, int degree);

}  // namespace warpalign::cuda

// The part of the source that a tile of the output needs, for resampling in one kernel.
#include "spline/resample_source.hpp"

#include "spline/fixed_point.hpp"

namespace warpalign::cuda {

std::optional<ResampleSource> resample_source(const Evaluation& e) {
  if (e.points.kind != PointKind::affine || e.spline.rules.points == PointRule::period_minus_one) {
    return std::nullopt;
  }
  const double* m = e.points.m;
  const auto tiles = backend::resample_tiles(m, {e.output.width, e.output.height, 1});
  if (!tiles) return std::nullopt;
  ResampleSource source;
  source.columns = tiles->columns;
  source.rows = tiles->rows;
  source.steep = tiles->steep;
  source.shear = tiles->shear;
  for (std::size_t i = 0; i < 2; ++i) {
    source.minimum[i] = tiles->minimum[i];
    source.before[i] = tiles->before[i];
    source.along_x[i] = to_fixed(m[4 * i]);
    source.along_y[i] = to_fixed(m[4 * i + 1]);
  }
  return source;
}

}  // namespace warpalign::cuda

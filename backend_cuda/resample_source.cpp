// The part of the source that a tile of the output needs, for resampling in one kernel.
#include "resample_source.hpp"

#include "fixed_point.hpp"
#include "interpolate_tile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace warpalign::cuda {
namespace {

struct Range {
  double least = std::numeric_limits<double>::max();
  double greatest = std::numeric_limits<double>::lowest();
};

// One coordinate over a tile.
Range range_over_tile(const double* row, bool steep, int shear) {
  Range range;
  // A group's ends decide.
  for (int i = 0; i < resample_tile; i += i % shear_group == 0 ? shear_group - 1 : 1) {
    for (const int end : {0, resample_tile - 1}) {
      const int sheared = end + shear * (i / shear_group);
      const double at = steep ? row[0] * sheared + row[1] * i : row[0] * i + row[1] * sheared;
      range.least = std::min(range.least, at);
      range.greatest = std::max(range.greatest, at);
    }
  }
  return range;
}

// Coefficients that a range needs, wherever it begins, with one more on either side.
int coefficients_of(const Range& range) {
  constexpr int neighbours = 4;
  return static_cast<int>(std::ceil(range.greatest - range.least)) + neighbours + 2;
}

// The source of a tile of that shear, if a kernel takes so much.
std::optional<ResampleSource> source_of(const double* m, bool steep, int shear) {
  const Range x = range_over_tile(m, steep, shear);
  const Range y = range_over_tile(m + 4, steep, shear);
  const int rows = coefficients_of(y) + 2 * resample_halo;
  ResampleSource source;
  source.columns = coefficients_of(x);
  if (source.columns > most_kept_columns || rows > many_rows) return std::nullopt;
  source.rows = rows <= few_rows ? few_rows : many_rows;
  source.least[0] = x.least;
  source.least[1] = y.least;
  source.steep = steep;
  source.shear = shear;
  source.before[steep ? 0 : 1] = std::max(0, shear * (resample_tile / shear_group - 1));
  for (int i = 0; i < 2; ++i) {
    source.along_x[i] = to_fixed(m[4 * i]);
    source.along_y[i] = to_fixed(m[4 * i + 1]);
  }
  return source;
}

constexpr int most_shear = shear_group / 2;

// The shear that levels half of the way what a warp goes along: what it reads then meets in fewer
// banks of shared memory, and lies in fewer rows.
int wanted_shear(const double* m, bool steep) {
  const double along = m[steep ? 5 : 4], across = m[steep ? 4 : 5];
  if (across == 0) return 0;
  return -static_cast<int>(
      std::clamp(std::round(most_shear * along / across), -1.0 * most_shear, 1.0 * most_shear));
}

}  // namespace

std::optional<ResampleSource> resample_source(const Evaluation& e) {
  if (e.points.kind != PointKind::affine || e.spline.rules.points == PointRule::period_minus_one ||
      !all_near(e, 2)) {
    return std::nullopt;
  }
  const double* m = e.points.m;
  const bool steep = std::abs(m[4]) > std::abs(m[0]);
  const int wanted = wanted_shear(m, steep);
  std::optional<ResampleSource> best;
  for (int shear = -most_shear; shear <= most_shear; ++shear) {
    const auto source = source_of(m, steep, shear);
    if (!source) continue;
    const auto cost = [wanted](const ResampleSource& s) {
      return std::pair(s.rows, std::abs(s.shear - wanted));
    };
    if (!best || cost(*source) < cost(*best)) best = source;
  }
  return best;
}

}  // namespace warpalign::cuda

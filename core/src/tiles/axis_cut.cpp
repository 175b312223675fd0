// The samples that a tile needs along one axis.
#include "tiles/axis_cut.hpp"

#include <warpalign/tiles.hpp>

#include <algorithm>
#include <cmath>

namespace warpalign::detail {
namespace {

/// The error of coordinates, in samples. A coordinate nearer to an edge may lie on either side.
constexpr double rounding = 0x1p-18;
/// Larger coordinates have no fraction, so that folding them would not be exact.
constexpr double far_away = 0x1p40;

/// The map of a coordinate x to the first period of the image: sign x + shift.
struct Fold {
  double sign = 1;
  double shift = 0;
};

Interval folded(const Fold& fold, const Interval& points) {
  const double a = fold.sign * points.low + fold.shift;
  const double b = fold.sign * points.high + fold.shift;
  return {std::min(a, b), std::max(a, b)};
}

/// The fold of a mirrored image that maps the middle of the interval to the image. If the interval
/// has points in the image, the fold is the identity. A folded point is not farther from 0, so it
/// keeps all bits of its fraction.
/// `last`: where the mirror image begins: n - 1, or n - 1/2 if the edge sample is repeated.
Fold fold_mirrored(double period, double last, const Interval& points) {
  if (points.low <= last && points.high >= 0) return {};
  const double middle = (points.low + points.high) / 2;
  const double shift = period * std::floor(middle / period);
  if (middle - shift <= last) return {1, -shift};
  return {-1, shift + 2 * last};
}

Fold fold_of(Boundary boundary, std::int64_t samples, const Interval& points) {
  const auto n = static_cast<double>(samples);
  if (points.low >= 0 && points.high <= n - 1) return {};
  if (boundary == Boundary::mirror) return fold_mirrored(2 * n - 2, n - 1, points);
  if (boundary == Boundary::reflect) return fold_mirrored(2 * n, n - 0.5, points);
  if (boundary == Boundary::wrap) return {1, -(n - 1) * std::floor(points.low / (n - 1))};
  return {};
}

/// Whether points lie on both sides of the seam of `wrap`, or so near that rounding decides on
/// which side. Both ends of the image itself belong to the image.
bool crosses_seam(const Fold& fold, double last, const Interval& points) {
  if (points.low >= -rounding && points.high <= last + rounding) return false;
  const Interval at = folded(fold, points);
  return !(at.low > rounding && at.high < last - rounding);
}

AxisCut cut_periodic(std::int64_t samples, std::int64_t first, std::int64_t last) {
  if (last - first + 1 >= samples) return whole_axis(samples);
  const std::int64_t begin = ((first % samples) + samples) % samples;
  AxisCut cut{begin, last - first + 1};
  cut.shift = static_cast<double>(begin - first);
  cut.inside = true;
  return cut;
}

/// Extends the cut for mirrored edges: a sample beyond an edge equals the one as far inside, or one
/// sample nearer.
void cut_mirrored(AxisCut& cut, std::int64_t samples, std::int64_t first, std::int64_t last) {
  const std::int64_t end = samples - 1;
  std::int64_t from = first;
  std::int64_t to = last;
  if (first < 0) to = std::max(to, -first);
  if (last > end) from = std::min(from, 2 * end - last);
  cut.begin = std::max<std::int64_t>(from, 0);
  cut.length = std::min(to, end) - cut.begin + 1;
}

/// Extends the cut for constant edges: all samples beyond an edge are equal, and the coefficients
/// there become constant within the halo.
void cut_constant(AxisCut& cut, std::int64_t samples, const Reach& reach, std::int64_t first,
                  std::int64_t last) {
  const std::int64_t end = samples - 1;
  const std::int64_t from =
      std::clamp<std::int64_t>(first, 0, std::max<std::int64_t>(end - reach.before, 0));
  const std::int64_t to = std::clamp<std::int64_t>(last, std::min(reach.after, end), end);
  cut.begin = from;
  cut.length = to - from + 1;
}

}  // namespace

Reach reach_of(const ResampleSpec& spec) {
  std::int64_t halo = 0;
  if (spec.spline.prefilter) {
    halo = *spec.spline.prefilter == PrefilterMethod::fir ? spec.spline.taps / 2
                                                          : prefilter_halo(spec.spline.degree);
  }
  // The B-splines of samples floor(x) - degree / 2 to floor(x) + degree / 2 + 1 do not vanish at x.
  // One more sample on either side covers an x within rounding of a sample.
  return {spec.spline.degree / 2 + 1 + halo, spec.spline.degree / 2 + 2 + halo};
}

AxisCut whole_axis(std::int64_t samples) {
  AxisCut cut{0, samples};
  cut.at_edge = true;
  return cut;
}

AxisCut cut_axis(Boundary boundary, const Reach& reach, std::int64_t samples,
                 const Interval& points) {
  if (!(std::abs(points.low) < far_away && std::abs(points.high) < far_away)) {
    return whole_axis(samples);
  }
  const auto end = static_cast<double>(samples - 1);
  if (boundary == Boundary::constant && (points.high < -rounding || points.low > end + rounding)) {
    AxisCut cut = whole_axis(samples);
    cut.outside = true;
    return cut;
  }
  if (samples == 1) return whole_axis(samples);
  const Fold fold = fold_of(boundary, samples, points);
  if (boundary == Boundary::wrap && crosses_seam(fold, end, points)) return whole_axis(samples);
  Interval at = folded(fold, points);
  bool within = at.low >= 0 && at.high <= end;
  if (boundary == Boundary::wrap) within = true;
  if (boundary == Boundary::constant) at = {std::max(at.low, 0.0), std::min(at.high, end)};
  const std::int64_t first = static_cast<std::int64_t>(std::floor(at.low)) - reach.before;
  const std::int64_t last = static_cast<std::int64_t>(std::floor(at.high)) + reach.after;
  if (boundary == Boundary::grid_wrap) return cut_periodic(samples, first, last);
  AxisCut cut;
  cut.sign = fold.sign;
  cut.shift = fold.shift;
  cut.at_edge = first < 0 || last > samples - 1;
  cut.inside =
      within && (!cut.at_edge || boundary == Boundary::mirror || boundary == Boundary::wrap);
  if (boundary == Boundary::nearest || boundary == Boundary::grid_constant) {
    cut_constant(cut, samples, reach, first, last);
  } else {
    cut_mirrored(cut, samples, first, last);
  }
  return cut;
}

}  // namespace warpalign::detail

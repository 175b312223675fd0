// Which tiles overlap, and which windows of two tiles show the same scene.
#include "mosaic/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace warpalign::detail {
namespace {

/// The length of the part that [0, first) and [shift, shift + second) have in common.
double common_length(std::int64_t first, std::int64_t second, double shift) {
  return std::min(static_cast<double>(first), shift + static_cast<double>(second)) -
         std::max(0.0, shift);
}

template <class P>
bool overlap(const Shape& first, const Shape& second, const P& shift) {
  constexpr double min_part = axes_of<P> == 2 ? 0.25 : 0.5;
  std::size_t wide_axes = 0;
  for (std::size_t axis = 0; axis < axes_of<P>; ++axis) {
    const std::int64_t a = side_along(first, axis);
    const std::int64_t b = side_along(second, axis);
    const double common = common_length(a, b, along(shift, axis));
    if (common < 1) return false;
    if (common >= min_part * static_cast<double>(std::min(a, b))) ++wide_axes;
  }
  return wide_axes + 1 >= axes_of<P>;
}

struct Interval {
  std::int64_t begin = 0;
  std::int64_t length = 0;
};

/// The part of [0, size) that [shift, shift + other) covers, extended by `margin` on both sides and
/// to the smallest side of a registration.
Interval window(std::int64_t size, std::int64_t other, double shift, double margin,
                std::int64_t min_side) {
  const auto last = static_cast<double>(size);
  const double from = std::clamp(std::floor(shift - margin), 0.0, last);
  const double to = std::clamp(std::ceil(shift + static_cast<double>(other) + margin), 0.0, last);
  auto begin = static_cast<std::int64_t>(from);
  auto end = static_cast<std::int64_t>(to);
  if (end - begin < min_side) {
    begin = std::max<std::int64_t>(0, std::min(begin, size - min_side));
    end = std::min(size, std::max(end, begin + min_side));
  }
  return {begin, end - begin};
}

template <class P>
std::vector<ExpectedPairOf<P>> pairs_of(std::span<const Shape> shapes,
                                        std::span<const P> positions) {
  std::vector<std::size_t> by_x(shapes.size());
  std::iota(by_x.begin(), by_x.end(), std::size_t{0});
  std::sort(by_x.begin(), by_x.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(positions[a].x, a) < std::tie(positions[b].x, b);
  });
  std::vector<ExpectedPairOf<P>> pairs;
  for (std::size_t i = 0; i < by_x.size(); ++i) {
    const double end = positions[by_x[i]].x + static_cast<double>(shapes[by_x[i]].width);
    for (std::size_t j = i + 1; j < by_x.size() && positions[by_x[j]].x < end; ++j) {
      const auto [first, second] = std::minmax(by_x[i], by_x[j]);
      const P shift = difference(positions[second], positions[first]);
      if (overlap(shapes[first], shapes[second], shift)) pairs.push_back({first, second, shift});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::tie(a.moving, a.reference) < std::tie(b.moving, b.reference);
  });
  return pairs;
}

}  // namespace

std::vector<ExpectedPair> overlapping_pairs(std::span<const Shape> shapes,
                                            std::span<const Point> positions) {
  return pairs_of(shapes, positions);
}
std::vector<ExpectedPairOf<Point3>> overlapping_pairs(std::span<const Shape> shapes,
                                                      std::span<const Point3> positions) {
  return pairs_of(shapes, positions);
}

std::array<TileWindow, 2> overlap_windows(const Shape& reference, const Shape& moving,
                                          const Point& shift, double margin) {
  constexpr std::int64_t side = min_registered_side;
  const Interval x = window(reference.width, moving.width, shift.x, margin, side);
  const Interval y = window(reference.height, moving.height, shift.y, margin, side);
  const Interval u = window(moving.width, reference.width, -shift.x, margin, side);
  const Interval v = window(moving.height, reference.height, -shift.y, margin, side);
  return {TileWindow{x.begin, y.begin, x.length, y.length},
          TileWindow{u.begin, v.begin, u.length, v.length}};
}

std::array<Region, 2> overlap_regions(const Shape& reference, const Shape& moving,
                                      const Point3& shift, double margin) {
  std::array<Region, 2> windows;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t a = side_along(reference, axis);
    const std::int64_t b = side_along(moving, axis);
    const double s = along(shift, axis);
    const Interval from = window(a, b, s, margin, min_registered_volume_side);
    const Interval to = window(b, a, -s, margin, min_registered_volume_side);
    windows[0].begin[axis] = from.begin;
    side_along(windows[0].shape, axis) = from.length;
    windows[1].begin[axis] = to.begin;
    side_along(windows[1].shape, axis) = to.length;
  }
  return windows;
}

}  // namespace warpalign::detail

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

bool overlap(const Shape& first, const Shape& second, const Point& shift) {
  constexpr double min_part = 0.25;
  const double x = common_length(first.width, second.width, shift.x);
  const double y = common_length(first.height, second.height, shift.y);
  if (x < 1 || y < 1) return false;
  return x >= min_part * static_cast<double>(std::min(first.width, second.width)) ||
         y >= min_part * static_cast<double>(std::min(first.height, second.height));
}

struct Interval {
  std::int64_t begin = 0;
  std::int64_t length = 0;
};

/// The part of [0, size) that [shift, shift + other) covers, extended by `margin` on both sides and
/// to the smallest side of a registration.
Interval window(std::int64_t size, std::int64_t other, double shift, double margin) {
  const auto last = static_cast<double>(size);
  const double from = std::clamp(std::floor(shift - margin), 0.0, last);
  const double to = std::clamp(std::ceil(shift + static_cast<double>(other) + margin), 0.0, last);
  auto begin = static_cast<std::int64_t>(from);
  auto end = static_cast<std::int64_t>(to);
  if (end - begin < min_registered_side) {
    begin = std::max<std::int64_t>(0, std::min(begin, size - min_registered_side));
    end = std::min(size, std::max(end, begin + min_registered_side));
  }
  return {begin, end - begin};
}

}  // namespace

std::vector<ExpectedPair> overlapping_pairs(std::span<const Shape> shapes,
                                            std::span<const Point> positions) {
  std::vector<std::size_t> by_x(shapes.size());
  std::iota(by_x.begin(), by_x.end(), std::size_t{0});
  std::sort(by_x.begin(), by_x.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(positions[a].x, a) < std::tie(positions[b].x, b);
  });
  std::vector<ExpectedPair> pairs;
  for (std::size_t i = 0; i < by_x.size(); ++i) {
    const double end = positions[by_x[i]].x + static_cast<double>(shapes[by_x[i]].width);
    for (std::size_t j = i + 1; j < by_x.size() && positions[by_x[j]].x < end; ++j) {
      const auto [first, second] = std::minmax(by_x[i], by_x[j]);
      const Point shift{positions[second].x - positions[first].x,
                        positions[second].y - positions[first].y};
      if (overlap(shapes[first], shapes[second], shift)) pairs.push_back({first, second, shift});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const ExpectedPair& a, const ExpectedPair& b) {
    return std::tie(a.moving, a.reference) < std::tie(b.moving, b.reference);
  });
  return pairs;
}

std::array<TileWindow, 2> overlap_windows(const Shape& reference, const Shape& moving,
                                          const Point& shift, double margin) {
  const Interval x = window(reference.width, moving.width, shift.x, margin);
  const Interval y = window(reference.height, moving.height, shift.y, margin);
  const Interval u = window(moving.width, reference.width, -shift.x, margin);
  const Interval v = window(moving.height, reference.height, -shift.y, margin);
  return {TileWindow{x.begin, y.begin, x.length, y.length},
          TileWindow{u.begin, v.begin, u.length, v.length}};
}

}  // namespace warpalign::detail

// Which pixels two images have in common under two transforms.
#include "registration/similarity/common_pixels.hpp"

#include <cmath>

namespace warpalign::detail {

namespace {

constexpr float full_weight = 0.999F;

bool is_within(Point q, const Shape& shape) {
  return q.x >= 1 && q.y >= 1 && q.x < static_cast<double>(shape.width - 2) &&
         q.y < static_cast<double>(shape.height - 2);
}

std::size_t nearest_pixel(Point q, const Shape& shape) {
  return static_cast<std::size_t>(std::llround(q.y) * shape.width + std::llround(q.x));
}

// Whether pixel `i` of the coarse image and the pixels at both places of the fine one count.
bool count_fully(const WeightedPair& pair, std::size_t i, Point q0, Point q1) {
  if (pair.coarse_weight.empty()) return true;
  return pair.coarse_weight[i] >= full_weight &&
         pair.fine_weight[nearest_pixel(q0, pair.fine)] >= full_weight &&
         pair.fine_weight[nearest_pixel(q1, pair.fine)] >= full_weight;
}

}  // namespace

double find_common(const WeightedPair& pair, const Homography& simpler, const Homography& richer,
                   std::vector<std::uint8_t>& counts) {
  counts.assign(static_cast<std::size_t>(pair.coarse.plane()), 0);
  double squares = 0;
  double pixels = 0;
  for (std::int64_t y = 0; y < pair.coarse.height; ++y) {
    for (std::int64_t x = 0; x < pair.coarse.width; ++x) {
      const auto i = static_cast<std::size_t>(y * pair.coarse.width + x);
      const Point p{static_cast<double>(x), static_cast<double>(y)};
      const Point q0 = simpler(p);
      const Point q1 = richer(p);
      if (!is_within(q0, pair.fine) || !is_within(q1, pair.fine)) continue;
      if (!count_fully(pair, i, q0, q1)) continue;
      counts[i] = 1;
      squares += (q0.x - q1.x) * (q0.x - q1.x) + (q0.y - q1.y) * (q0.y - q1.y);
      pixels += 1;
    }
  }
  return pixels > 0 ? std::sqrt(squares / pixels) : 0;
}

}  // namespace warpalign::detail

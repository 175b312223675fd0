// A pair of images during refinement.
#include "reference/refinement/compared_pair.hpp"

#include "reference/spline/basis.hpp"

#include <algorithm>
#include <cmath>

namespace reference {

namespace {

constexpr double min_weight = 0.999;

bool on_axis(double at, std::int64_t n, std::int64_t margin) {
  return at >= static_cast<double>(margin) && at < static_cast<double>(n - 1 - margin);
}

}  // namespace

Position position_of(const ComparedPair& pair, std::int64_t x, std::int64_t y) {
  const auto& [a, b, c, d, e, f] = pair.m;
  const auto px = static_cast<double>(x);
  const auto py = static_cast<double>(y);
  const double w = pair.w[0] * px + pair.w[1] * py + pair.w[2];
  return {(a * px + b * py + c) / w, (d * px + e * py + f) / w};
}

// A finite difference may step outside the image; the weights there are 1e-19.
double spline_at(const Plane& coefficients, Position at) {
  const auto x0 = static_cast<std::int64_t>(std::floor(at.x));
  const auto y0 = static_cast<std::int64_t>(std::floor(at.y));
  double sum = 0;
  for (std::int64_t v = std::max<std::int64_t>(y0 - 1, 0);
       v <= std::min(y0 + 2, coefficients.height - 1); ++v) {
    for (std::int64_t u = std::max<std::int64_t>(x0 - 1, 0);
         u <= std::min(x0 + 2, coefficients.width - 1); ++u) {
      sum += beta(3, at.x - static_cast<double>(u)) * beta(3, at.y - static_cast<double>(v)) *
             coefficients.at(u, v);
    }
  }
  return sum;
}

/// The position of a reference pixel, if it is valid.
std::optional<Position> counted(const ComparedPair& pair, std::int64_t x, std::int64_t y) {
  const std::int64_t margin = pair.reference_margin;
  const Position q = position_of(pair, x, y);
  if (x < margin || y < margin || x >= pair.reference.width - margin ||
      y >= pair.reference.height - margin ||
      !on_axis(q.x, pair.coefficients.width, pair.moving_margin) ||
      !on_axis(q.y, pair.coefficients.height, pair.moving_margin)) {
    return {};
  }
  if (pair.reference_weight != nullptr && pair.reference_weight->at(x, y) < min_weight) return {};
  if (pair.moving_weight != nullptr &&
      pair.moving_weight->at(std::llround(q.x), std::llround(q.y)) < min_weight) {
    return {};
  }
  return q;
}

}  // namespace reference

// What both pictures of a pair are drawn from: a function of the plane.
#include "accuracy/scene.hpp"

#include <cmath>

namespace accuracy {

namespace {

std::int64_t folded(std::int64_t i, std::int64_t n, Outside outside) {
  const std::int64_t period = outside == Outside::repeat ? n : 2 * (n - 1);
  i %= period;
  if (i < 0) i += period;
  return i < n ? i : period - i;
}

}  // namespace

Scene::Scene(std::int64_t width, std::int64_t height, Outside outside)
    : width_(width),
      height_(height),
      outside_(outside),
      values_(static_cast<std::size_t>(width * height)) {}

float Scene::linear(std::int64_t x0, std::int64_t x1, std::int64_t y0, std::int64_t y1, double a,
                    double b) const {
  const float* upper = values_.data() + y0 * width_;
  const float* lower = values_.data() + y1 * width_;
  const auto u = static_cast<float>(a);
  const auto v = static_cast<float>(b);
  const float above = upper[x0] + u * (upper[x1] - upper[x0]);
  const float below = lower[x0] + u * (lower[x1] - lower[x0]);
  return above + v * (below - above);
}

float Scene::operator()(double x, double y) const {
  const double left = std::floor(x);
  const double top = std::floor(y);
  const auto x0 = static_cast<std::int64_t>(left);
  const auto y0 = static_cast<std::int64_t>(top);
  if (x0 >= 0 && x0 + 1 < width_ && y0 >= 0 && y0 + 1 < height_) {
    return linear(x0, x0 + 1, y0, y0 + 1, x - left, y - top);
  }
  return linear(folded(x0, width_, outside_), folded(x0 + 1, width_, outside_),
                folded(y0, height_, outside_), folded(y0 + 1, height_, outside_), x - left,
                y - top);
}

}  // namespace accuracy

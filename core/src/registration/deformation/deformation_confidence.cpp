// The confidence in a deformation whose affine transform no search has judged.
#include "registration/deformation/deformation_confidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

namespace {

constexpr std::int64_t radius = 2;
// Crops of unrelated photographs reached 0.57 (220 pairs, from the identity); slices of the brains
// of different people 0.60 to 0.77.
constexpr double half = 0.58;
// The correlation that changes the odds by a factor of e.
constexpr double unit = 0.02;

/// Sums within windows along one axis, at the distance `stride`.
void sum_along(std::vector<double>& values, std::int64_t stride, std::int64_t length) {
  const auto count = static_cast<std::int64_t>(values.size());
  std::vector<double> line(static_cast<std::size_t>(length));
  for (std::int64_t first = 0; first < count; ++first) {
    if (first / stride % length != 0) continue;
    for (std::int64_t k = 0; k < length; ++k) {
      double sum = 0;
      for (std::int64_t i = std::max<std::int64_t>(k - radius, 0);
           i <= std::min(k + radius, length - 1); ++i) {
        sum += values[static_cast<std::size_t>(first + i * stride)];
      }
      line[static_cast<std::size_t>(k)] = sum;
    }
    for (std::int64_t k = 0; k < length; ++k) {
      values[static_cast<std::size_t>(first + k * stride)] = line[static_cast<std::size_t>(k)];
    }
  }
}

/// The sums of f(pixel) within the windows about all pixels.
template <class Value>
std::vector<double> window_sums(const Shape& shape, Value&& f) {
  std::vector<double> sums(static_cast<std::size_t>(shape.pixels()));
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = f(i);
  sum_along(sums, 1, shape.width);
  sum_along(sums, shape.width, shape.height);
  if (shape.depth > 1) sum_along(sums, shape.width * shape.height, shape.depth);
  return sums;
}

}  // namespace

double pooled_correlation(std::span<const float> reference, std::span<const float> warped,
                          std::span<const float> valid, const Shape& shape) {
  const auto f = [&](std::size_t i) { return static_cast<double>(reference[i]); };
  const auto w = [&](std::size_t i) { return static_cast<double>(warped[i]); };
  const auto n = window_sums(shape, [](std::size_t) { return 1.0; });
  const auto sum_f = window_sums(shape, f);
  const auto sum_w = window_sums(shape, w);
  const auto sum_ff = window_sums(shape, [&](std::size_t i) { return f(i) * f(i); });
  const auto sum_ww = window_sums(shape, [&](std::size_t i) { return w(i) * w(i); });
  const auto sum_fw = window_sums(shape, [&](std::size_t i) { return f(i) * w(i); });
  double covariance = 0;
  double variance_f = 0;
  double variance_w = 0;
  for (std::size_t i = 0; i < n.size(); ++i) {
    if (valid[i] == 0) continue;
    covariance += sum_fw[i] - sum_f[i] * sum_w[i] / n[i];
    variance_f += sum_ff[i] - sum_f[i] * sum_f[i] / n[i];
    variance_w += sum_ww[i] - sum_w[i] * sum_w[i] / n[i];
  }
  const double product = variance_f * variance_w;
  return product > 0 ? covariance / std::sqrt(product) : 0;
}

double deformation_confidence(double pooled_correlation) {
  return 1 / (1 + std::exp((half - pooled_correlation) / unit));
}

bool is_nearly_aligned(double rotation_deg, double scale, const Point3& translation,
                       const Shape& shape) {
  constexpr double max_rotation = 25;
  constexpr double max_scale = 1.25;
  constexpr double max_shift = 0.15;  // of the sides
  const auto within = [](double shift, std::int64_t side) {
    return std::abs(shift) <= max_shift * static_cast<double>(side);
  };
  return std::abs(rotation_deg) <= max_rotation && scale <= max_scale && scale >= 1 / max_scale &&
         within(translation.x, shape.width) && within(translation.y, shape.height) &&
         within(translation.z, shape.depth);
}

}  // namespace warpalign::detail

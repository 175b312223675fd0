// The outline of what an image shows: a threshold, and distances from its contour.
#include "registration/deformation/judgement/outline.hpp"

#include "registration/deformation/judgement/window_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace warpalign::detail {

std::vector<float> gaussian_smoothed(std::span<const float> image, const Shape& shape,
                                     double sigma) {
  constexpr std::int64_t reach = 8;
  std::array<float, 2 * reach + 1> weights{};
  float total = 0;
  for (std::int64_t k = -reach; k <= reach; ++k) {
    const double t = static_cast<double>(k) / sigma;
    weights[static_cast<std::size_t>(k + reach)] = static_cast<float>(std::exp(-t * t / 2));
    total += weights[static_cast<std::size_t>(k + reach)];
  }
  for (float& weight : weights) weight /= total;
  std::vector<float> result(image.begin(), image.end());
  combine_neighbours(result, shape, reach, 0, Beyond::nearest,
                     [&](std::int64_t offset, const float* from, float* to, std::int64_t count) {
                       const float weight = weights[static_cast<std::size_t>(offset + reach)];
                       for (std::int64_t k = 0; k < count; ++k) to[k] += weight * from[k];
                     });
  return result;
}

float otsu_threshold(std::span<const float> values, std::span<const float> known) {
  constexpr std::size_t bins = 256;
  float least = std::numeric_limits<float>::max();
  float most = std::numeric_limits<float>::lowest();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (known[i] == 0) continue;
    least = std::min(least, values[i]);
    most = std::max(most, values[i]);
  }
  if (!(most > least)) return least;
  std::array<double, bins> counts{};
  const float per = static_cast<float>(bins) / (most - least);
  double total = 0;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (known[i] == 0) continue;
    const auto bin = std::min(static_cast<std::size_t>((values[i] - least) * per), bins - 1);
    counts[bin] += 1;
    total += 1;
    sum += static_cast<double>(bin);
  }
  double below = 0;
  double sum_below = 0;
  double best = -1;
  std::size_t threshold = 0;
  for (std::size_t bin = 0; bin + 1 < bins; ++bin) {
    below += counts[bin];
    sum_below += counts[bin] * static_cast<double>(bin);
    if (below == 0 || below == total) continue;
    const double difference = sum_below / below - (sum - sum_below) / (total - below);
    const double between = below * (total - below) * difference * difference;
    if (between > best) {
      best = between;
      threshold = bin;
    }
  }
  return least + static_cast<float>(threshold + 1) / per;
}

std::vector<float> distances_from(const std::vector<bool>& inside, bool from, const Shape& shape) {
  constexpr auto limit = static_cast<float>(farthest_from_outline * farthest_from_outline);
  std::vector<float> squares(inside.size());
  for (std::size_t i = 0; i < inside.size(); ++i) squares[i] = inside[i] == from ? limit : 0;
  // Separable: the least squared distance along each axis, plus that along the axes before.
  combine_neighbours(squares, shape, farthest_from_outline, limit, Beyond::neutral,
                     [](std::int64_t offset, const float* source, float* to, std::int64_t count) {
                       const auto square = static_cast<float>(offset * offset);
                       for (std::int64_t k = 0; k < count; ++k) {
                         to[k] = std::min(to[k], source[k] + square);
                       }
                     });
  for (float& square : squares) square = std::sqrt(square);
  return squares;
}

}  // namespace warpalign::detail

// Gaussian weights of separable filters, computed in double precision.
#include "stages/filter/axis_weights.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace warpalign::detail {

namespace {

constexpr double cut_off = 4;       // standard deviations; the weight beyond is 6e-5
constexpr double min_sigma = 0.05;  // below it, the weight of a pixel half a pixel away vanishes

struct Reach {
  std::int64_t first;
  std::int64_t last;
};

Reach reach_of(const AxisGrid& grid, std::int64_t i, double sigma) {
  const double at = grid.origin + static_cast<double>(i) * grid.spacing;
  const std::int64_t nearest = std::clamp<std::int64_t>(std::llround(at), 0, grid.n_input - 1);
  const auto first = static_cast<std::int64_t>(std::ceil(at - cut_off * sigma));
  const auto last = static_cast<std::int64_t>(std::floor(at + cut_off * sigma));
  return {std::clamp<std::int64_t>(first, 0, nearest),
          std::clamp<std::int64_t>(last, nearest, grid.n_input - 1)};
}

/// The position of an output relative to its taps. Neighbouring outputs often have the same.
struct TapPosition {
  double at;                 ///< from the first tap
  std::int64_t first, last;  ///< taps with a weight
  friend bool operator==(const TapPosition&, const TapPosition&) = default;
};

std::vector<double> weights_at(const TapPosition& position, std::int64_t taps, double sigma) {
  std::vector<double> weights(static_cast<std::size_t>(taps), 0);
  double sum = 0;
  for (std::int64_t k = position.first; k <= position.last; ++k) {
    const double u = sigma >= min_sigma ? (static_cast<double>(k) - position.at) / sigma : 0;
    sum += weights[static_cast<std::size_t>(k)] = std::exp(-u * u / 2);
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace

backend::AxisWeights gaussian_weights(const AxisGrid& grid, double sigma) {
  const auto n = static_cast<std::size_t>(grid.n_output);
  std::int64_t taps = 1;
  for (std::int64_t i = 0; i < grid.n_output; ++i) {
    const Reach reach = reach_of(grid, i, sigma);
    taps = std::max(taps, reach.last - reach.first + 1);
  }
  backend::AxisWeights axis;
  axis.taps = static_cast<int>(taps);
  axis.first.resize(n);
  axis.weights.assign(n * static_cast<std::size_t>(taps), 0.0F);
  std::optional<TapPosition> before;
  std::vector<double> weights;
  for (std::size_t i = 0; i < n; ++i) {
    const auto output = static_cast<std::int64_t>(i);
    const double at = grid.origin + static_cast<double>(output) * grid.spacing;
    const Reach reach = reach_of(grid, output, sigma);
    const std::int64_t first = std::min(reach.first, grid.n_input - taps);
    const TapPosition position{at - static_cast<double>(first), reach.first - first,
                               reach.last - first};
    if (position != before) weights = weights_at(position, taps, sigma);
    before = position;
    axis.first[i] = static_cast<std::int32_t>(first);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      axis.weights[k * n + i] = static_cast<float>(weights[k]);
    }
  }
  return axis;
}

backend::AxisWeights gaussian_weights(const AxisGrid& grid, double sigma, std::int64_t inputs) {
  const backend::AxisWeights one = gaussian_weights(grid, sigma);
  if (inputs == 1) return one;
  backend::AxisWeights all;
  all.taps = one.taps;
  for (std::int64_t input = 0; input < inputs; ++input) {
    for (const std::int32_t first : one.first) {
      all.first.push_back(static_cast<std::int32_t>(input * grid.n_input + first));
    }
  }
  const std::size_t n = one.first.size();
  for (std::size_t k = 0; k < static_cast<std::size_t>(one.taps); ++k) {
    const auto tap = one.weights.begin() + static_cast<std::ptrdiff_t>(k * n);
    for (std::int64_t input = 0; input < inputs; ++input) {
      all.weights.insert(all.weights.end(), tap, tap + static_cast<std::ptrdiff_t>(n));
    }
  }
  return all;
}

}  // namespace warpalign::detail

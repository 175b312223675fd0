// Statistics of an image's intensities.
//
// The device is idle while each image of a pair is measured, so sums and extremes are accumulated
// in independent lanes, which compilers vectorize.
#include "registration/pyramid/intensity_statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace warpalign::detail {

namespace {

constexpr std::size_t lanes = 8;

// Calls include() for pixels 0 to n - 1 and assigns them to the lanes cyclically.
template <class Lanes, class Include>
void for_lanes(std::size_t n, Lanes& all, Include include) {
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) include(all, k, i + k);
  }
  for (std::size_t k = 0; i < n; ++i, ++k) include(all, k, i);
}

using Sums = std::array<double, lanes>;

double total(const Sums& sums) { return std::accumulate(sums.begin(), sums.end(), 0.0); }

struct FirstPass {
  explicit FirstPass(float value) {
    minimum.fill(value);
    maximum.fill(value);
  }
  Sums sum{};
  std::array<float, lanes> minimum, maximum;
};

// A sum of floats cannot overflow a double, so it is finite if all of them are finite.
template <class Weight>
IntensityStatistics levels(std::span<const float> values, double all, Weight weight) {
  IntensityStatistics levels;
  if (values.empty()) return levels;
  FirstPass first(values.front());
  for_lanes(values.size(), first, [&](FirstPass& pass, std::size_t k, std::size_t i) {
    const float value = values[i];
    pass.sum[k] += weight(i) * static_cast<double>(value);
    pass.minimum[k] = value < pass.minimum[k] ? value : pass.minimum[k];
    pass.maximum[k] = value > pass.maximum[k] ? value : pass.maximum[k];
  });
  levels.weight = all;
  const double sum = total(first.sum);
  if (!std::isfinite(sum)) {
    levels.mean = sum;
    return levels;
  }
  if (!(levels.weight > 0)) return levels;
  levels.mean = sum / levels.weight;
  Sums squares{};
  for_lanes(values.size(), squares, [&](Sums& s, std::size_t k, std::size_t i) {
    const double d = static_cast<double>(values[i]) - levels.mean;
    s[k] += weight(i) * d * d;
  });
  levels.deviation = std::sqrt(total(squares) / levels.weight);
  levels.minimum = *std::min_element(first.minimum.begin(), first.minimum.end());
  levels.maximum = *std::max_element(first.maximum.begin(), first.maximum.end());
  return levels;
}

}  // namespace

bool is_extreme(const IntensityStatistics& levels) {
  constexpr double largest = 1 << 30;
  constexpr double least_share = 1.0 / (1 << 14);
  return std::abs(levels.mean) > largest || levels.deviation > largest ||
         levels.deviation < 1 / largest || levels.deviation < least_share * std::abs(levels.mean);
}

IntensityStatistics intensity_statistics(std::span<const float> values) {
  return levels(values, static_cast<double>(values.size()), [](std::size_t) { return 1.0; });
}

IntensityStatistics intensity_statistics(std::span<const float> values,
                                         std::span<const float> weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  return levels(values, all, [&](std::size_t i) { return static_cast<double>(weights[i]); });
}

}  // namespace warpalign::detail

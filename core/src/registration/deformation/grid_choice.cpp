// The choice between the default grid and a finer one.
#include "registration/deformation/grid_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

// Drawn deformations, also in noise, reach the expected correlation or more, and brains of
// different people at most 0.75 of it (docs/accuracy-deformation.md).
constexpr double enough = 0.92;
// Stains that show other structures reach less. A fine grid would follow how these differ.
constexpr double too_little = 0.5;

}  // namespace

double expected_correlation(std::span<const float> precisions, std::span<const float> counts,
                            const IntensityVariance& reference, const IntensityVariance& moving) {
  const double moving_floor = moving.floor * reference.all / moving.all;
  double sum = 0;
  double counted = 0;
  for (std::size_t i = 0; i < precisions.size(); ++i) {
    const auto precision = static_cast<double>(precisions[i]);
    if (counts[i] == 0 || !(precision > 0)) continue;
    const double signal = std::max(1 / (precision * precision) - 3 * reference.floor, 0.0);
    sum += signal * precision / std::sqrt(signal + 3 * moving_floor);
    counted += 1;
  }
  return counted > 0 ? sum / counted : 0;
}

bool needs_fine_grid(double correlation, double expected) {
  return correlation < enough * expected && correlation > too_little * expected;
}

}  // namespace warpalign::detail

// The oracle of matches of descriptors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace reference {

struct FeatureMatch {
  int index = -1;  ///< -1: no feature stands out
  double ratio = 1;
  /// The distance of the ratio from its limit, and the difference of the best product from that of
  /// any other feature.
  double margin_of_ratio = 0, margin_of_product = 0;
};

struct FeaturePosition {
  double x = 0, y = 0;
};

/// The distance for a scalar product of unit vectors; at least 1e-3.
inline double descriptor_distance(double product) {
  return std::max(std::sqrt(std::max(2 - 2 * product, 0.0)), 1e-3);
}

/// If no feature has another position, the second-best product is 0.
inline FeatureMatch feature_match(const std::vector<double>& wanted,
                                  const std::vector<std::vector<double>>& moving,
                                  const std::vector<FeaturePosition>& places, double apart,
                                  double max_ratio) {
  std::vector<double> products;
  for (const std::vector<double>& descriptor : moving) {
    double product = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) product += wanted[i] * descriptor[i];
    products.push_back(product);
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < products.size(); ++i) best = products[i] > products[best] ? i : best;
  double next = 0;
  FeatureMatch match;
  match.margin_of_product = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (i == best) continue;
    match.margin_of_product = std::min(match.margin_of_product, products[best] - products[i]);
    const double distance = std::hypot(places[i].x - places[best].x, places[i].y - places[best].y);
    if (distance >= apart) next = std::max(next, products[i]);
  }
  const double ratio = descriptor_distance(products[best]) / descriptor_distance(next);
  match.margin_of_ratio = std::abs(ratio - max_ratio);
  if (ratio < max_ratio) {
    match.index = static_cast<int>(best);
    match.ratio = ratio;
  }
  return match;
}

}  // namespace reference

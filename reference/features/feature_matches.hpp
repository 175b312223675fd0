// The oracle of matches of descriptors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace reference {

struct FeatureMatch {
  int index = -1;  ///< -1: none stands out
  double ratio = 1;
  /// By how much the ratio is below or above the largest one, and by how much the best product is
  /// above that of any other feature.
  double margin_of_ratio = 0, margin_of_product = 0;
};

struct FeaturePosition {
  double x = 0, y = 0;
};

/// At least 1e-3.
inline double descriptor_distance(double product) {
  return std::max(std::sqrt(std::max(2 - 2 * product, 0.0)), 1e-3);
}

/// Where no feature is at another place, the next best one counts as one with the product 0.
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

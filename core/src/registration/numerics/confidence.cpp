// The confidence in a registration, computed from its significance.
#include "registration/numerics/confidence.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

namespace {

// If the values of the fast pipeline's correlation surface were independent for unrelated images,
// their maximum would rarely exceed 6 standard deviations at any image size. However, the spectra
// of windowed images are correlated, and the measured maximum grows with the fourth root of the
// number of pixels (docs/accuracy-confidence.md). It reached at most 1.16 times that root over 7352
// unrelated pairs, and at least 1.83 times the root over 1077 correctly registered pairs.
constexpr double fast_half_confidence = 1.45;

// With this exponent, 1.16 gives a confidence of 0.10 and 1.83 gives 0.91.
constexpr double steepness = 10;

// A logistic function of log(significance) that is one half at `half`.
double confidence_at(double significance, double half) {
  return significance > 0 ? 1 / (1 + std::pow(half / significance, steepness)) : 0;
}

}  // namespace

double confidence_of(double significance, double half) { return confidence_at(significance, half); }

double significance_of(double correlation, double independent) {
  constexpr double maximum = 1 - 1e-6;
  return std::atanh(std::clamp(correlation, -maximum, maximum)) * std::sqrt(independent);
}

double null_test_confidence(double evidence, double second_best_ratio) {
  // The second-best ratio of correct poses was at most 0.61 for photographs. It was 0.67 or more
  // for slices of heads, which resemble themselves upside down.
  constexpr double half_confidence_ratio = 0.7;
  const double from_evidence = confidence_at(evidence, 1);
  const double from_ratio =
      second_best_ratio > 0 ? confidence_at(half_confidence_ratio, second_best_ratio) : 1;
  return std::min(from_evidence, from_ratio);
}

double uniqueness_confidence(double ratio) {
  // At right poses of 273 real pairs the best other shift reaches at most 0.69, of two fields of
  // crops in rows 0.82. Where textures repeat, it reaches 0.95 and more.
  constexpr double half_confidence_ratio = 0.85;
  return ratio > 0 ? confidence_at(half_confidence_ratio, ratio) : 1;
}

double volume_significance(double correlation, double independent) {
  return significance_of(correlation, std::max(independent - 3, 0.0));
}

double volume_confidence(double significance, double half) {
  return confidence_at(significance, half);
}

double fast_confidence(double deviations, std::int64_t pixels) {
  return confidence_at(deviations,
                       fast_half_confidence * std::pow(static_cast<double>(pixels), 0.25));
}

}  // namespace warpalign::detail

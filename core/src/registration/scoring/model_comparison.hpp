// Whether a richer model explains a pair of images significantly better than a simpler one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// An image, and what two models predict it to be from another image. The simpler model is the
/// richer one with some parameters fixed.
struct Predictions {
  std::int64_t width = 0, height = 0;
  std::span<const float> image;
  std::span<const float> simpler, richer;
  std::span<const std::uint8_t> counts;  ///< 1 where all three have a value, else 0
};

/// Compares models by a likelihood ratio. Keeps its memory between calls.
class ModelComparison {
 public:
  /// (S0 - S1) / (A S1 / n), with S0 and S1 the sums of squared residuals of the simpler and of the
  /// richer model over n pixels, each after the gain and offset that fit best. Where the simpler
  /// model is true, this has a chi-squared distribution with as many degrees of freedom as the
  /// richer one has parameters more (Wilks 1938). Pixels are not independent: by Bartlett's formula
  /// (1946), A is the sum over all shifts of the product of two autocorrelations, that of the
  /// residuals and that of what the models differ by. Pixels that neither model explains lose their
  /// weight (Tukey's biweight). 0 where there are too few pixels.
  double likelihood_ratio(const Predictions& predictions);

 private:
  void take(const Predictions& predictions);
  void find_residuals();
  void weigh();
  [[nodiscard]] double correlated_pixels(std::int64_t width, std::int64_t height) const;

  // 0 where pixels do not count.
  std::vector<float> image_, of_simpler_, of_richer_;
  std::vector<double> weights_;
  std::vector<double> simpler_, richer_;  // residuals
  std::vector<double> difference_, sampled_;
};

/// Whether a likelihood ratio is too high to be due to chance, for a model with `parameters` more
/// parameters, which must be an even number.
[[nodiscard]] bool is_significant(double likelihood_ratio, int parameters);

}  // namespace warpalign::detail

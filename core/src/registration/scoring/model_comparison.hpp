// Tests whether a model with more parameters explains a pair of images significantly better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// An image, and the predictions of two models for it from another image. The simpler model is the
/// other one with some parameters fixed.
struct Predictions {
  std::int64_t width = 0, height = 0;
  std::span<const float> image;
  std::span<const float> simpler, richer;
  std::span<const std::uint8_t> counts;  ///< 1 if all three images have a value, else 0
};

/// Compares two nested models by a likelihood ratio. Reuses its memory between calls.
class ModelComparison {
 public:
  /// Returns (S0 - S1) / (A S1 / n), where S0 and S1 are the sums of squared residuals of the
  /// simpler and the larger model over n pixels, each after the best gain and offset. If the
  /// simpler model is true, this has a chi-squared distribution; the degrees of freedom are the
  /// additional parameters of the larger model (Wilks 1938). Pixels are not independent: by
  /// Bartlett's formula (1946), A is the sum over all shifts of the product of two
  /// autocorrelations, that of the residuals and that of the difference between the models. Tukey's
  /// biweight removes the weight of pixels that neither model explains. 0 if there are too few
  /// pixels.
  double likelihood_ratio(const Predictions& predictions);

 private:
  void copy_counted(const Predictions& predictions);
  void compute_residuals();
  void update_weights();
  [[nodiscard]] double correlated_pixels(std::int64_t width, std::int64_t height) const;

  // 0 for ignored pixels.
  std::vector<float> image_, simpler_prediction_, richer_prediction_;
  std::vector<double> weights_;
  std::vector<double> simpler_residuals_, richer_residuals_;
  std::vector<double> difference_, sampled_;
};

/// Whether a likelihood ratio is significant for a model with `parameters` more parameters, which
/// must be an even number.
[[nodiscard]] bool is_significant(double likelihood_ratio, int parameters);

}  // namespace warpalign::detail

// The scale of the residuals in a robust fit: an M-estimator with Tukey's biweight (Beaton & Tukey
// 1974; Huber & Ronchetti 2009, chapter 7). The weights are in kernels_cl/formulas/similarity.h.
#pragma once

#include <cmath>

namespace warpalign::detail {

/// The scale of the weights, in standard deviations of the residuals, for 95 % efficiency with
/// normally distributed residuals.
inline constexpr double tukey_constant = 4.685;
/// The standard deviation of normally distributed residuals divided by their mean absolute value,
/// sqrt(pi / 2).
inline constexpr double deviation_per_mean_absolute = 1.2533;
/// The same divided by the median of their absolute values, 1 / Phi^-1(3/4).
inline constexpr double deviation_per_median = 1.4826;
/// The standard deviation of normally distributed residuals divided by their deviation under
/// Tukey's weights.
inline constexpr double deviation_per_weighted_deviation = 1.099;
/// The scale of the weights divided by the mean absolute residual.
inline constexpr double scale_per_mean_absolute = tukey_constant * deviation_per_mean_absolute;

/// Tracks the scale during a fit in which each evaluation uses the gain, offset and scale of the
/// previous one. The first evaluation measures gain and offset, the second one the residuals. From
/// the third evaluation on, outliers get less weight. After the evaluation `last_update` the scale
/// is kept, so that the fit converges.
class RobustScale {
 public:
  /// `last_update`: the last evaluation that changes the scale.
  explicit RobustScale(int last_update) : last_update_(last_update) {}

  /// Starts a fit without a known scale.
  void restart() {
    evaluations_ = 0;
    scale_ = 0;
  }
  /// Starts a fit with the current scale.
  void restart_with_scale() { evaluations_ = first_robust; }

  void count_evaluation() { ++evaluations_; }
  [[nodiscard]] int evaluations() const { return evaluations_; }
  /// Whether the last evaluation used weights. A fit must not end before.
  [[nodiscard]] bool was_robust() const { return evaluations_ > first_robust; }
  /// The reciprocal scale of the next evaluation; 0: all samples have equal weight.
  [[nodiscard]] float inverse() const {
    return static_cast<float>(evaluations_ >= first_robust && scale_ > 0 ? 1 / scale_ : 0);
  }

  /// Updates the scale from the last evaluation. `absolute`: the sum of the absolute residuals over
  /// `count` samples.
  void update(double absolute, double count) {
    if (is_updated()) scale_ = scale_per_mean_absolute * absolute / count;
  }
  /// Like update(absolute, count), but uses the weighted variance of the residuals once there are
  /// weights.
  void update(double absolute, double count, double weighted_variance) {
    if (!is_updated() || !(count > 0)) return;
    scale_ =
        tukey_constant * (evaluations_ == first_robust
                              ? deviation_per_mean_absolute * absolute / count
                              : deviation_per_weighted_deviation * std::sqrt(weighted_variance));
  }

 private:
  static constexpr int first_robust = 2;

  [[nodiscard]] bool is_updated() const {
    return evaluations_ >= first_robust && evaluations_ <= last_update_;
  }

  int last_update_;
  int evaluations_ = 0;
  double scale_ = 0;
};

}  // namespace warpalign::detail

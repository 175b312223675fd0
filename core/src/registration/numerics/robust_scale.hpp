// The scale of the residuals in a robust fit: an M-estimator with Tukey's biweight (Beaton & Tukey
// 1974; Huber & Ronchetti 2009, chapter 7), of which kernels_cl/formulas/similarity.h has the
// weights.
#pragma once

#include <cmath>

namespace warpalign::detail {

/// The scale of the weights, in standard deviations of the residuals, for 95 % efficiency where
/// these are normally distributed.
inline constexpr double tukey_constant = 4.685;
/// The standard deviation of normally distributed residuals divided by their mean absolute value,
/// sqrt(pi / 2).
inline constexpr double deviation_per_mean_absolute = 1.2533;
/// The standard deviation of normally distributed residuals divided by their deviation under
/// Tukey's weights.
inline constexpr double deviation_per_weighted_deviation = 1.099;
/// The scale of the weights divided by the mean absolute residual.
inline constexpr double scale_per_mean_absolute = tukey_constant * deviation_per_mean_absolute;

/// The scale in the course of a fit whose evaluations take gain, offset and scale from the
/// evaluation before. The first evaluation has no gain and offset, and the second one measures the
/// residuals under them. From the third one on, outliers have less weight. At last the scale is
/// kept, so that the steps converge.
class RobustScale {
 public:
  /// `last_update`: the last evaluation that changes the scale.
  explicit RobustScale(int last_update) : last_update_(last_update) {}

  /// Begins a fit of which nothing is known.
  void restart() {
    evaluations_ = 0;
    scale_ = 0;
  }
  /// Begins a fit with the scale of this one.
  void restart_with_scale() { evaluations_ = first_robust; }

  void count_evaluation() { ++evaluations_; }
  [[nodiscard]] int evaluations() const { return evaluations_; }
  /// Whether the last evaluation had weights; a step without them is never the last.
  [[nodiscard]] bool was_robust() const { return evaluations_ > first_robust; }
  /// The reciprocal scale of the next evaluation; 0: all samples have equal weight.
  [[nodiscard]] float inverse() const {
    return static_cast<float>(evaluations_ >= first_robust && scale_ > 0 ? 1 / scale_ : 0);
  }

  /// Updates the scale by the mean absolute residual of the last evaluation: a sum over `count`
  /// samples.
  void update(double absolute, double count) {
    if (is_updated()) scale_ = scale_per_mean_absolute * absolute / count;
  }
  /// The same, but by the residuals' variance under the weights once there are any.
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

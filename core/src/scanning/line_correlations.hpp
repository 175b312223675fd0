// Sums of correlations of lines, and the offset that they give.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Sums over pairs of lines: of each line and the mean of its neighbours, and of both with
/// themselves.
class LineCorrelations {
 public:
  /// How far lags are from the offset that they determine.
  static constexpr int lag_window = 24;

  explicit LineCorrelations(int max_offset);

  /// Adds a pair of lines of the same length, which is above max_offset + lag_window + 3.
  void add(std::span<const float> neighbours, std::span<const float> line);
  void add(const LineCorrelations& other);
  void subtract(const LineCorrelations& other);

  [[nodiscard]] bool is_empty() const { return samples_ == 0; }
  /// Whether both lines have content.
  [[nodiscard]] bool has_content() const { return of_line_[0] > 0 && of_neighbours_[0] > 0; }
  /// The correlation, from -1 to 1, at a lag of whole pixels.
  [[nodiscard]] double correlation(int lag) const;
  /// The lag within the largest offset at which the correlation is highest.
  [[nodiscard]] int best_lag() const;
  /// The highest correlation at another local maximum than `best`, or 0.
  [[nodiscard]] double second_best(int best) const;
  /// The offset within a pixel of `lag`.
  [[nodiscard]] double offset_near(int lag) const;
  /// The number of independent samples, of which neighbouring ones are correlated.
  [[nodiscard]] double independent_samples() const;

 private:
  [[nodiscard]] double improved(double offset, bool is_rough) const;
  template <typename Combine>
  void combine(const LineCorrelations& other, Combine combine);

  int max_offset_;
  int max_lag_;
  double samples_ = 0;
  std::vector<double> between_;        ///< from -max_lag_ to max_lag_
  std::vector<double> of_neighbours_;  ///< from 0 to lag_window
  std::vector<double> of_line_;
};

}  // namespace warpalign::detail

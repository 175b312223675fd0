// Sums of correlations of lines, and the offset that they give.
#include "scanning/line_correlations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

namespace warpalign::detail {

namespace {

/// The sum of the products of n numbers, in single precision, as for a line.
double product_sum(const float* a, const float* b, std::size_t n) {
  constexpr std::size_t lanes = 16;  // independent sums, which compilers put into vectors
  std::array<float, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += a[i + k] * b[i + k];
  }
  double sum = 0;
  for (; i < n; ++i) sum += static_cast<double>(a[i] * b[i]);
  for (const float lane : sums) sum += static_cast<double>(lane);
  return sum;
}

/// The sum over pairs a(x) b(x + lag) whose middle lies in the middle of the line, at a distance
/// of more than half of `max_lag` from its ends. These are the same pairs for lags that are equally
/// far from the offset on both sides, so that the ends of the line favour neither.
double correlate(std::span<const float> a, std::span<const float> b, int lag, int max_lag) {
  const int margin = max_lag / 2 + 1;
  const int before = lag >= 0 ? lag / 2 : -((1 - lag) / 2);  // rounded towards minus infinity
  const int first = margin - before;
  const int count = static_cast<int>(a.size()) - 2 * margin - (lag % 2 == 0 ? 0 : 1);
  if (count < 2) return 0;
  const auto n = static_cast<std::size_t>(count);
  const float* from = a.data() + first;
  const float* to = b.data() + first + lag;
  const double sum = product_sum(from, to, n);
  if (lag % 2 != 0) return sum;
  // Middles lie on pixels, and for odd lags between them. Half of the outermost products makes both
  // cover the same length; otherwise every second lag would be too high.
  return sum - 0.5 * static_cast<double>(from[0] * to[0] + from[n - 1] * to[n - 1]);
}

/// Hann's window over lags of -LineCorrelations::lag_window to that.
double lag_weight(double lag) {
  const double phase = std::numbers::pi * lag / (LineCorrelations::lag_window + 1);
  return std::abs(phase) < std::numbers::pi ? 0.5 * (1 + std::cos(phase)) : 0;
}

/// The frequencies of the cross-spectrum, in radians a pixel.
constexpr int frequencies = 64;
double frequency(int k) { return std::numbers::pi * (k + 0.5) / frequencies; }

/// A coherence of 1 would have an infinite weight.
constexpr double max_coherence = 0.99;

/// A noise floor for power spectra, relative to their mean: the leakage of the window over lags.
/// Frequencies without content would otherwise appear coherent.
double floor_of(const std::vector<double>& correlations) {
  constexpr double leakage = 0.01;
  return leakage * correlations.front();
}

/// The unit phases of a cross-spectrum and their weights.
struct Phases {
  std::array<std::complex<double>, frequencies> unit;
  std::array<double, frequencies> weight;

  /// The likelihood of an offset, and its first two derivatives.
  [[nodiscard]] std::array<double, 3> at(double offset) const {
    std::array<double, 3> sum{};
    for (int k = 0; k < frequencies; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const double omega = frequency(k);
      const std::complex<double> turned = unit[i] * std::polar(1.0, omega * offset);
      sum[0] += weight[i] * turned.real();
      sum[1] -= weight[i] * omega * turned.imag();
      sum[2] -= weight[i] * omega * omega * turned.real();
    }
    return sum;
  }
};

}  // namespace

LineCorrelations::LineCorrelations(int max_offset)
    : max_offset_(max_offset),
      max_lag_(max_offset + lag_window),
      between_(static_cast<std::size_t>(2 * max_lag_ + 1)),
      of_neighbours_(lag_window + 1),
      of_line_(lag_window + 1) {}

void LineCorrelations::add(std::span<const float> neighbours, std::span<const float> line) {
  for (int lag = -max_lag_; lag <= max_lag_; ++lag) {
    between_[static_cast<std::size_t>(lag + max_lag_)] +=
        correlate(neighbours, line, lag, max_lag_);
  }
  for (int lag = 0; lag <= lag_window; ++lag) {
    const auto i = static_cast<std::size_t>(lag);
    of_neighbours_[i] += correlate(neighbours, neighbours, lag, max_lag_);
    of_line_[i] += correlate(line, line, lag, max_lag_);
  }
  samples_ += static_cast<double>(line.size()) - static_cast<double>(max_lag_);
}

template <typename Combine>
void LineCorrelations::combine(const LineCorrelations& other, Combine combine) {
  const auto each = [&](std::vector<double>& mine, const std::vector<double>& theirs) {
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = combine(mine[i], theirs[i]);
  };
  each(between_, other.between_);
  each(of_neighbours_, other.of_neighbours_);
  each(of_line_, other.of_line_);
  samples_ = combine(samples_, other.samples_);
}

void LineCorrelations::add(const LineCorrelations& other) {
  combine(other, [](double a, double b) { return a + b; });
}

void LineCorrelations::subtract(const LineCorrelations& other) {
  combine(other, [](double a, double b) { return a - b; });
}

double LineCorrelations::correlation(int lag) const {
  return between_[static_cast<std::size_t>(lag + max_lag_)] /
         std::sqrt(of_neighbours_[0] * of_line_[0]);
}

int LineCorrelations::best_lag() const {
  const auto first = between_.begin() + lag_window;
  const auto last = between_.end() - lag_window;
  return static_cast<int>(std::max_element(first, last) - first) - max_offset_;
}

double LineCorrelations::second_best(int best) const {
  double highest = 0;
  for (int lag = -max_lag_ + 1; lag < max_lag_; ++lag) {
    const double here = correlation(lag);
    const bool is_maximum = here >= correlation(lag - 1) && here >= correlation(lag + 1);
    if (is_maximum && std::abs(lag - best) > 1) highest = std::max(highest, here);
  }
  return highest;
}

/// A window over lags that is not centred on the offset would draw the result to its centre.
double LineCorrelations::offset_near(int lag) const {
  double offset = lag;
  for (int i = 0; i < 4; ++i) offset = improved(offset, i == 0);
  return offset;
}

/// `is_rough`: `offset` may be wrong by a pixel.
double LineCorrelations::improved(double offset, bool is_rough) const {
  Phases phases{};
  const int nearest = static_cast<int>(std::lround(offset));
  for (int k = 0; k < frequencies; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const double omega = frequency(k);
    std::complex<double> cross;
    double neighbours = 0;
    double line = 0;
    for (int l = -lag_window; l <= lag_window; ++l) {
      const auto own = static_cast<std::size_t>(std::abs(l));
      const int at = std::clamp(nearest + l, -max_lag_, max_lag_);
      const double distance = at - offset;
      cross += lag_weight(distance) * between_[static_cast<std::size_t>(at + max_lag_)] *
               std::polar(1.0, -omega * distance);
      neighbours += lag_weight(l) * of_neighbours_[own] * std::cos(omega * l);
      line += lag_weight(l) * of_line_[own] * std::cos(omega * l);
    }
    const double size = std::abs(cross);
    if (size <= 0 || neighbours <= 0 || line <= 0) continue;
    const double noisy = (neighbours + floor_of(of_neighbours_)) * (line + floor_of(of_line_));
    const double coherence = std::min(size * size / noisy, max_coherence);
    phases.unit[i] = cross / size;
    phases.weight[i] = coherence / (1 - coherence);
  }
  double best = 0;
  constexpr int steps = 20;  // of a pixel
  for (int i = -steps; is_rough && i <= steps; ++i) {
    const double change = static_cast<double>(i) / steps;
    if (phases.at(change)[0] > phases.at(best)[0]) best = change;
  }
  for (int i = 0; i < 10; ++i) {
    const auto [value, slope, curvature] = phases.at(best);
    if (curvature >= 0) break;
    best = std::clamp(best - slope / curvature, -1.0, 1.0);
  }
  return offset + best;
}

double LineCorrelations::independent_samples() const {
  double length = 1;
  for (int l = 1; l <= lag_window; ++l) {
    const auto i = static_cast<std::size_t>(l);
    length += 2 * (of_neighbours_[i] / of_neighbours_[0]) * (of_line_[i] / of_line_[0]);
  }
  return samples_ / std::max(length, 1.0);
}

}  // namespace warpalign::detail

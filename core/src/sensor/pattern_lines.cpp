// Offsets of a sensor's columns and rows.
#include "sensor/pattern_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace warpalign::detail {

namespace {

// In standard deviations of the correlation of unrelated values, for short columns and rows.
constexpr double min_deviations = 5;
constexpr std::int64_t line_radius = 10;

/// The means of neighbourhoods of 2 radius + 1 values.
std::vector<float> smoothed_line(const std::vector<float>& line, std::int64_t radius) {
  const auto count = static_cast<std::int64_t>(line.size());
  std::vector<float> smooth(line.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = std::max<std::int64_t>(0, i - radius);
    const std::int64_t end = std::min(count, i + radius + 1);
    double sum = 0;
    for (std::int64_t k = first; k < end; ++k)
      sum += static_cast<double>(line[static_cast<std::size_t>(k)]);
    smooth[static_cast<std::size_t>(i)] =
        static_cast<float>(sum / static_cast<double>(end - first));
  }
  return smooth;
}

std::vector<float> without_trend(const std::vector<float>& line) {
  std::vector<float> rest = smoothed_line(line, line_radius);
  for (std::size_t i = 0; i < line.size(); ++i) rest[i] = line[i] - rest[i];
  return rest;
}

PlaneMoments moments_of_lines(const std::vector<float>& a, const std::vector<float>& b) {
  const std::vector<std::uint8_t> all(a.size(), 1);
  return moments_of(a, b, all);
}

double correlation_of(const std::vector<float>& a, const std::vector<float>& b) {
  return moments_of_lines(a, b).correlation();
}

}  // namespace

Lines lines_of(const PatternSamples& samples, const Plane& image) {
  const auto width = static_cast<std::size_t>(samples.width);
  const auto height = static_cast<std::size_t>(samples.height);
  Lines lines{std::vector<float>(width), std::vector<float>(height), image};
  const auto subtract_means = [&](std::vector<float>& offsets, bool is_row) {
    std::vector<double> sum(offsets.size()), count(offsets.size());
    for (std::size_t y = 0, i = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x, ++i) {
        if (samples.known[i] == 0) continue;
        sum[is_row ? y : x] += static_cast<double>(lines.rest[i]);
        ++count[is_row ? y : x];
      }
    }
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      offsets[k] = count[k] > 0 ? static_cast<float>(sum[k] / count[k]) : 0;
    }
    for (std::size_t y = 0, i = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x, ++i) {
        if (samples.known[i] != 0) lines.rest[i] -= offsets[is_row ? y : x];
      }
    }
  };
  subtract_means(lines.columns, false);
  subtract_means(lines.rows, true);
  return lines;
}

void limit_line(std::vector<float>& line) {
  std::vector<float> result(line.size());
  std::vector<float> finer = line;
  double finest = 0, finer_noise = 1;
  const auto add_band = [&](const std::vector<float>& band, double noise) {
    double energy = 0;
    for (const float value : band)
      energy += static_cast<double>(value) * static_cast<double>(value);
    if (finest == 0) finest = energy / noise;
    const auto factor = static_cast<float>(energy > finest * noise ? finest * noise / energy : 1);
    for (std::size_t i = 0; i < line.size(); ++i) result[i] += factor * band[i];
  };
  for (const std::int64_t radius : {1, 2, 4, 8, 16}) {
    std::vector<float> coarser = smoothed_line(line, radius);
    for (std::size_t i = 0; i < line.size(); ++i) finer[i] -= coarser[i];
    const double noise = 1 / static_cast<double>(2 * radius + 1);
    add_band(finer, finer_noise - noise);
    finer = std::move(coarser);
    finer_noise = noise;
  }
  add_band(finer, finer_noise);
  line = std::move(result);
}

double signal_part(double correlation) {
  return correlation > 0 ? 2 * correlation / (1 + correlation) : 0;
}

double line_factor(const std::vector<float>& first, const std::vector<float>& second) {
  const double limit =
      std::max(min_agreement, min_deviations / std::sqrt(static_cast<double>(first.size())));
  if (correlation_of(without_trend(first), without_trend(second)) < limit) return 0;
  return signal_part(correlation_of(first, second));
}

double neighbour_product(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < a.size(); ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i + 1]) +
           static_cast<double>(b[i]) * static_cast<double>(a[i + 1]);
  }
  return sum / (2 * static_cast<double>(a.size() - 1));
}

double mean_product(const std::vector<float>& a, const std::vector<float>& b) {
  return moments_of_lines(a, b).product;
}

}  // namespace warpalign::detail

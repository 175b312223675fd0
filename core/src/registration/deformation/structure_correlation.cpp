// How well the structure of two aligned images agrees, with and without their outlines.
#include "registration/deformation/structure_correlation.hpp"

#include "registration/deformation/window_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace warpalign::detail {

namespace {

// Of the intensities whose contour is the outline, in pixels.
constexpr double contour_sigma = 2;
// Mean intensities are those at distances from the outline up to this one, in pixels.
constexpr std::int64_t farthest = 16;
// The share of a window's pixels that must be known.
constexpr double least_known = 0.15;

/// The sums of the windows' covariances and variances.
struct Covariances {
  double both = 0, reference = 0, warped = 0;

  void add(const Covariances& other) {
    both += other.both;
    reference += other.reference;
    warped += other.warped;
  }
  [[nodiscard]] double correlation() const {
    const double product = reference * warped;
    return product > 0 ? both / std::sqrt(product) : 0;
  }
};

/// `weights`: 1, or 0 for pixels that are ignored.
Covariances covariances(std::span<const float> reference, std::span<const float> warped,
                        std::span<const float> weights, std::span<const float> valid,
                        const Shape& shape) {
  const auto f = [&](std::size_t i) { return weights[i] * reference[i]; };
  const auto w = [&](std::size_t i) { return weights[i] * warped[i]; };
  const auto n = window_sums(shape, [&](std::size_t i) { return weights[i]; });
  const auto sum_f = window_sums(shape, f);
  const auto sum_w = window_sums(shape, w);
  const auto sum_ff = window_sums(shape, [&](std::size_t i) { return f(i) * reference[i]; });
  const auto sum_ww = window_sums(shape, [&](std::size_t i) { return w(i) * warped[i]; });
  const auto sum_fw = window_sums(shape, [&](std::size_t i) { return f(i) * warped[i]; });
  const double least = least_known * static_cast<double>(largest_window(shape));
  Covariances sums;
  for (std::size_t i = 0; i < n.size(); ++i) {
    const auto count = static_cast<double>(n[i]);
    if (valid[i] == 0 || count <= least) continue;
    const auto a = static_cast<double>(sum_f[i]);
    const auto b = static_cast<double>(sum_w[i]);
    sums.both += static_cast<double>(sum_fw[i]) - a * b / count;
    sums.reference += std::max(static_cast<double>(sum_ff[i]) - a * a / count, 0.0);
    sums.warped += std::max(static_cast<double>(sum_ww[i]) - b * b / count, 0.0);
  }
  return sums;
}

std::vector<float> smoothed(std::span<const float> image, const Shape& shape) {
  constexpr std::int64_t reach = 8;
  std::array<float, 2 * reach + 1> weights{};
  float total = 0;
  for (std::int64_t k = -reach; k <= reach; ++k) {
    const double t = static_cast<double>(k) / contour_sigma;
    weights[static_cast<std::size_t>(k + reach)] = static_cast<float>(std::exp(-t * t / 2));
    total += weights[static_cast<std::size_t>(k + reach)];
  }
  std::vector<float> result(image.begin(), image.end());
  for_each_line(result, shape, [&](const std::vector<float>& line, std::vector<float>& to) {
    const auto last = static_cast<std::int64_t>(line.size()) - 1;
    for (std::int64_t k = 0; k <= last; ++k) {
      float sum = 0;
      for (std::int64_t i = -reach; i <= reach; ++i) {
        sum += weights[static_cast<std::size_t>(i + reach)] *
               line[static_cast<std::size_t>(std::clamp<std::int64_t>(k + i, 0, last))];
      }
      to[static_cast<std::size_t>(k)] = sum / total;
    }
  });
  return result;
}

/// The threshold that divides the known values into two classes with the greatest variance between
/// them (Otsu 1979).
float otsu_threshold(std::span<const float> values, std::span<const float> known) {
  constexpr std::size_t bins = 256;
  float least = std::numeric_limits<float>::max();
  float most = std::numeric_limits<float>::lowest();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (known[i] == 0) continue;
    least = std::min(least, values[i]);
    most = std::max(most, values[i]);
  }
  if (!(most > least)) return least;
  std::array<double, bins> counts{};
  const float per = static_cast<float>(bins) / (most - least);
  double total = 0;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (known[i] == 0) continue;
    const auto bin = std::min(static_cast<std::size_t>((values[i] - least) * per), bins - 1);
    counts[bin] += 1;
    total += 1;
    sum += static_cast<double>(bin);
  }
  double below = 0;
  double sum_below = 0;
  double best = -1;
  std::size_t threshold = 0;
  for (std::size_t bin = 0; bin + 1 < bins; ++bin) {
    below += counts[bin];
    sum_below += counts[bin] * static_cast<double>(bin);
    if (below == 0 || below == total) continue;
    const double difference = sum_below / below - (sum - sum_below) / (total - below);
    const double between = below * (total - below) * difference * difference;
    if (between > best) {
      best = between;
      threshold = bin;
    }
  }
  return least + static_cast<float>(threshold + 1) / per;
}

/// The distance to the nearest pixel where `inside` is not `from`, at most `farthest`.
std::vector<float> distances(const std::vector<bool>& inside, bool from, const Shape& shape) {
  constexpr auto limit = static_cast<float>(farthest * farthest);
  std::vector<float> squares(inside.size());
  for (std::size_t i = 0; i < inside.size(); ++i) squares[i] = inside[i] == from ? limit : 0;
  // Separable: the least squared distance along each axis, plus that along the axes before.
  for_each_line(squares, shape, [](const std::vector<float>& line, std::vector<float>& result) {
    const auto length = static_cast<std::int64_t>(line.size());
    const float most = *std::max_element(line.begin(), line.end());
    if (most == 0) return result.assign(line.begin(), line.end());
    for (std::int64_t k = 0; k < length; ++k) {
      float least = line[static_cast<std::size_t>(k)];
      for (std::int64_t i = 1; i <= farthest && static_cast<float>(i * i) < least; ++i) {
        const auto square = static_cast<float>(i * i);
        if (k >= i) least = std::min(least, line[static_cast<std::size_t>(k - i)] + square);
        if (k + i < length) least = std::min(least, line[static_cast<std::size_t>(k + i)] + square);
      }
      result[static_cast<std::size_t>(k)] = least;
    }
  });
  for (float& square : squares) square = std::sqrt(square);
  return squares;
}

/// An image without its outline.
struct Inner {
  std::vector<bool> inside;      ///< which side of the outline each pixel is on
  std::vector<float> deviation;  ///< from the mean at the same distance
  std::vector<float> away;       ///< 1 for pixels whose neighbours are on the same side
};

Inner inner_of(std::span<const float> image, std::span<const float> known, const Shape& shape) {
  Inner result;
  const std::vector<float> smooth = smoothed(image, shape);
  const float threshold = otsu_threshold(smooth, known);
  for (const float value : smooth) result.inside.push_back(value > threshold);
  const std::vector<float> to_outside = distances(result.inside, true, shape);
  const std::vector<float> to_inside = distances(result.inside, false, shape);
  std::array<double, 2 * farthest + 1> sums{};
  std::array<double, 2 * farthest + 1> counts{};
  const auto bin = [&](std::size_t i) {
    const float signed_distance = to_outside[i] - to_inside[i];
    return static_cast<std::size_t>(std::lround(signed_distance) + farthest);
  };
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (known[i] == 0) continue;
    sums[bin(i)] += static_cast<double>(image[i]);
    counts[bin(i)] += 1;
  }
  for (std::size_t i = 0; i < image.size(); ++i) {
    const std::size_t at = bin(i);
    const double mean = counts[at] > 0 ? sums[at] / counts[at] : 0;
    result.deviation.push_back(image[i] - static_cast<float>(mean));
    result.away.push_back(std::max(to_outside[i], to_inside[i]) > 1 ? 1.0F : 0.0F);
  }
  return result;
}

}  // namespace

StructureCorrelation structure_correlation(std::span<const float> reference,
                                           std::span<const float> warped,
                                           std::span<const float> known,
                                           std::span<const float> valid, const Shape& shape) {
  const Covariances all = covariances(reference, warped, known, valid, shape);
  StructureCorrelation result;
  result.pooled = all.correlation();
  const Inner a = inner_of(reference, known, shape);
  const Inner b = inner_of(warped, known, shape);
  Covariances inner;
  std::vector<float> weights(known.size());
  for (const bool side : {false, true}) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const bool same = a.inside[i] == side && b.inside[i] == side;
      weights[i] = same ? known[i] * a.away[i] * b.away[i] : 0;
    }
    inner.add(covariances(a.deviation, b.deviation, weights, valid, shape));
  }
  result.inner = inner.correlation();
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  result.inner_share =
      std::max(share(inner.reference, all.reference), share(inner.warped, all.warped));
  return result;
}

}  // namespace warpalign::detail

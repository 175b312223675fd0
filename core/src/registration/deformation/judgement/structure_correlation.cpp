// How well the structure of two aligned images agrees, with and without their outlines.
#include "registration/deformation/judgement/structure_correlation.hpp"

#include "registration/deformation/judgement/outline.hpp"
#include "registration/deformation/judgement/window_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

namespace {

// Of the intensities whose contour is the outline, in pixels.
constexpr double contour_sigma = 2;
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

/// An image without its outline.
struct Inner {
  std::vector<bool> inside;      ///< which side of the outline each pixel is on
  std::vector<float> deviation;  ///< from the mean at the same distance
  std::vector<float> away;       ///< 1 for pixels whose neighbours are on the same side
};

Inner inner_of(std::span<const float> image, std::span<const float> known, const Shape& shape,
               float away) {
  Inner result;
  const std::vector<float> smooth = gaussian_smoothed(image, shape, contour_sigma);
  const float threshold = otsu_threshold(smooth, known);
  for (const float value : smooth) result.inside.push_back(value > threshold);
  const std::vector<float> to_outside = distances_from(result.inside, true, shape);
  const std::vector<float> to_inside = distances_from(result.inside, false, shape);
  std::array<double, 2 * farthest_from_outline + 1> sums{};
  std::array<double, 2 * farthest_from_outline + 1> counts{};
  const auto bin = [&](std::size_t i) {
    const float signed_distance = to_outside[i] - to_inside[i];
    return static_cast<std::size_t>(std::lround(signed_distance) + farthest_from_outline);
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
    result.away.push_back(std::max(to_outside[i], to_inside[i]) > away ? 1.0F : 0.0F);
  }
  return result;
}

}  // namespace

StructureCorrelation structure_correlation(std::span<const float> reference,
                                           std::span<const float> warped,
                                           std::span<const float> known,
                                           std::span<const float> valid, const Shape& shape,
                                           float away) {
  const Covariances all = covariances(reference, warped, known, valid, shape);
  StructureCorrelation result;
  result.pooled = all.correlation();
  const Inner a = inner_of(reference, known, shape, away);
  const Inner b = inner_of(warped, known, shape, away);
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

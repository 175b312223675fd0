// Finds point sources in an image and in its smoothed copies.
#include "registration/points/point_detection.hpp"

#include "registration/points/robust_deviation.hpp"
#include "registration/points/spot_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace warpalign::detail {

namespace {

// A few peaks of pure noise exceed this in an image of 400 x 400 pixels.
constexpr double min_peak_snr = 4.2;
// Spots of a fit with a lower ratio are no sources.
constexpr double min_snr = 3.5;
// Above this misfit a shape is a trail, a cosmic ray or a hot pixel. A line of the spot's width has
// 1.2, a single pixel about 5.
constexpr double max_misfit = 0.5;
constexpr double hot_deviations = 8;
// Beside a hot pixel, the pixels have a smaller fraction of its height. A Gaussian with a sigma of
// 0.6 pixels has 0.25.
constexpr double max_hot_ratio = 0.2;
// The medians are taken over about this many pixels.
constexpr std::size_t sampled = 1 << 15U;
constexpr std::size_t spread_peaks = 30;
constexpr std::size_t min_spread_spots = 3;
constexpr double rounding = 0.29;

std::size_t step_for(std::size_t pixels) { return std::max<std::size_t>(1, pixels / sampled) | 1U; }

double saturation_of(const PixelPlane& pixels) {
  double highest = -INFINITY;
  for (std::size_t i = 0; i < pixels.values.size(); ++i) {
    if (!pixels.weights.empty() && !(pixels.weights[i] > 0)) continue;
    highest = std::max(highest, static_cast<double>(pixels.values[i]));
  }
  return highest;
}

// Whether the fits of two peaks have led to one spot.
bool contains(const std::vector<PointSource>& sources, Point place) {
  return std::any_of(sources.begin(), sources.end(), [&](const PointSource& source) {
    return std::abs(source.place.x - place.x) < 1 && std::abs(source.place.y - place.y) < 1;
  });
}

// Whether the 5 x 5 pixels around a pixel lie in the image and count.
bool is_surrounded(const PixelPlane& pixels, std::int64_t x, std::int64_t y) {
  if (!pixels.contains(x - 2, y - 2) || !pixels.contains(x + 2, y + 2)) return false;
  if (pixels.weights.empty()) return true;
  for (std::int64_t v = y - 2; v <= y + 2; ++v) {
    for (std::int64_t u = x - 2; u <= x + 2; ++u) {
      if (!pixels.counts(u, v)) return false;
    }
  }
  return true;
}

}  // namespace

double pixel_noise(const PixelPlane& pixels, bool integers) {
  std::vector<float> differences;
  const std::size_t n = pixels.values.size();
  const std::size_t step = step_for(n);
  const auto width = static_cast<std::size_t>(pixels.shape.width);
  for (std::size_t i = 0; i + 1 < n; i += step) {
    if (i % width == width - 1) continue;
    if (!pixels.weights.empty() && !(pixels.weights[i] > 0 && pixels.weights[i + 1] > 0)) continue;
    differences.push_back(pixels.values[i + 1] - pixels.values[i]);
  }
  const double noise = robust_statistics(differences).deviation / std::sqrt(2.0);
  return integers ? std::max(noise, rounding) : noise;
}

std::vector<std::size_t> hot_pixels(const SmoothedPlanes& planes, double noise) {
  const PixelPlane& p = planes.pixels;
  std::vector<std::size_t> hot;
  for (std::int64_t y = 1; y + 1 < p.shape.height; ++y) {
    for (std::int64_t x = 1; x + 1 < p.shape.width; ++x) {
      const std::size_t i = p.index(x, y);
      const auto background = static_cast<double>(planes.wide[i]);
      const double height = p(x, y) - background;
      if (!(height > hot_deviations * noise) || !p.counts(x, y)) continue;
      // The median, so that one hot neighbour does not hide another.
      std::array<double, 4> around{p(x - 1, y), p(x + 1, y), p(x, y - 1), p(x, y + 1)};
      std::sort(around.begin(), around.end());
      const double beside = (around[1] + around[2]) / 2;
      if (beside - background < max_hot_ratio * height) hot.push_back(i);
    }
  }
  return hot;
}

std::vector<FilterPeak> filter_peaks(const SmoothedPlanes& planes, std::vector<float>& difference) {
  const PixelPlane& p = planes.pixels;
  const std::size_t n = p.values.size();
  difference.resize(n);
  float highest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    difference[i] = planes.narrow[i] - planes.wide[i];
    highest = std::max(highest, difference[i]);
  }
  std::vector<float> sample;
  for (std::size_t i = 0; i < n; i += step_for(n)) {
    if (p.weights.empty() || p.weights[i] > 0) sample.push_back(difference[i]);
  }
  // Without noise, ripples of rounding are no peaks.
  const double deviation =
      std::max(robust_statistics(sample).deviation, 1e-4 * static_cast<double>(highest));
  std::vector<FilterPeak> peaks;
  if (!(deviation > 0)) return peaks;
  const auto least = static_cast<float>(min_peak_snr * deviation);
  const auto width = static_cast<std::size_t>(p.shape.width);
  for (std::int64_t y = 2; y + 2 < p.shape.height; ++y) {
    for (std::int64_t x = 2; x + 2 < p.shape.width; ++x) {
      const float* at = difference.data() + p.index(x, y);
      const float value = *at;
      if (value < least) continue;
      const float* above = at - width;
      const float* below = at + width;
      const bool peak = value > above[-1] && value > above[0] && value > above[1] &&
                        value > at[-1] && value >= at[1] && value >= below[-1] &&
                        value >= below[0] && value >= below[1];
      if (!peak || !is_surrounded(p, x, y)) continue;
      peaks.push_back({x, y, static_cast<double>(value) / deviation});
    }
  }
  std::sort(peaks.begin(), peaks.end(), [](const FilterPeak& a, const FilterPeak& b) {
    return std::tuple(-a.snr, a.y, a.x) < std::tuple(-b.snr, b.y, b.x);
  });
  if (peaks.size() > 4 * max_point_sources) peaks.resize(4 * max_point_sources);
  return peaks;
}

double spread_of_points(const SmoothedPlanes& planes, std::span<const FilterPeak> peaks,
                        double noise) {
  const double saturation = saturation_of(planes.pixels);
  std::vector<float> sigmas;
  for (const FilterPeak& peak : peaks) {
    const Point at{static_cast<double>(peak.x), static_cast<double>(peak.y)};
    const auto spot = fit_spot(planes.pixels, at, {planes.sigma, true, noise, saturation});
    if (spot && spot->misfit < max_misfit) sigmas.push_back(static_cast<float>(spot->sigma));
    if (sigmas.size() == spread_peaks) break;
  }
  return sigmas.size() < min_spread_spots ? 0 : median_of(sigmas);
}

PointSources fitted_points(const SmoothedPlanes& planes, std::span<const FilterPeak> peaks,
                           double sigma, double noise) {
  const double saturation = saturation_of(planes.pixels);
  PointSources points;
  points.sigma = sigma;
  for (const FilterPeak& peak : peaks) {
    const Point at{static_cast<double>(peak.x), static_cast<double>(peak.y)};
    const auto spot = fit_spot(planes.pixels, at, {sigma, false, noise, saturation});
    if (!spot || spot->misfit > max_misfit) continue;
    if (!(spot->height > min_snr * spot->height_deviation)) continue;
    if (contains(points.sources, spot->place)) continue;
    points.sources.push_back({spot->place, spot->variance, peak.snr});
    if (points.sources.size() == max_point_sources) break;
  }
  return points;
}

}  // namespace warpalign::detail

// Finds point sources in an image and in its smoothed copies.
#pragma once

#include "registration/points/pixel_plane.hpp"
#include "registration/points/point_source.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// An image and two Gaussian-smoothed copies of it. Their difference is a filter that matches spots
/// of about `sigma` on an uneven background.
struct SmoothedPlanes {
  PixelPlane pixels;
  std::span<const float> narrow;  ///< smoothed by `sigma`
  std::span<const float> wide;    ///< smoothed by wide_ratio * sigma
  double sigma = 0;
};
inline constexpr double wide_ratio = 3;

/// The largest number of sources of an image.
inline constexpr std::size_t max_point_sources = 300;

/// The standard deviation of the noise of pixels, from the differences of neighbours. At least that
/// of rounding, if `integers`.
[[nodiscard]] double pixel_noise(const PixelPlane& pixels, bool integers);

/// The indices of single pixels that are bright beyond noise while the pixels beside them are not:
/// hot pixels. No optical image is that narrow.
[[nodiscard]] std::vector<std::size_t> hot_pixels(const SmoothedPlanes& planes, double noise);

/// A pixel where the filter has a maximum beyond noise.
struct FilterPeak {
  std::int64_t x = 0, y = 0;
  double snr = 0;  ///< the filter's value in units of its standard deviation
};

/// Returns the peaks, highest first, at most a few times max_point_sources. `difference` is a
/// reused buffer.
[[nodiscard]] std::vector<FilterPeak> filter_peaks(const SmoothedPlanes& planes,
                                                   std::vector<float>& difference);

/// The sigma of the point spread function: the median over the highest peaks. 0 if too few of them
/// are spots.
[[nodiscard]] double spread_of_points(const SmoothedPlanes& planes,
                                      std::span<const FilterPeak> peaks, double noise);

/// Fits a spot of `sigma` at each peak and returns those that fit.
[[nodiscard]] PointSources fitted_points(const SmoothedPlanes& planes,
                                         std::span<const FilterPeak> peaks, double sigma,
                                         double noise);

}  // namespace warpalign::detail

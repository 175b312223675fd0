// How well two images on the same grid agree, at each pixel.
#include <warpalign/local_agreement.hpp>

#include "registration/deformation/judgement/window_sums.hpp"
#include "registration/deformation/noise_floor.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace warpalign {

namespace {

// The variance of a window with structure, in floors: twice that of the noise.
constexpr double least_variance = 4;
// The share of a window that must be known.
constexpr float least_known_share = 0.5F;

/// An image without its mean and its unknown values, which are 0.
std::vector<float> centred(std::span<const float> image, const std::vector<float>& known) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (known[i] == 0) continue;
    sum += static_cast<double>(image[i]);
    count += 1;
  }
  const auto mean = static_cast<float>(count > 0 ? sum / count : 0);
  std::vector<float> result(image.size());
  for (std::size_t i = 0; i < image.size(); ++i)
    result[i] = known[i] * (known[i] != 0 ? image[i] - mean : 0);
  return result;
}

/// The variances within windows, from the sums of values and squares and the number of pixels.
double variance(float sum, float squares, double count) {
  const double mean = static_cast<double>(sum) / count;
  return std::max(static_cast<double>(squares) / count - mean * mean, 0.0);
}

}  // namespace

std::vector<float> local_agreement(std::span<const float> reference, std::span<const float> warped,
                                   const Shape& shape, std::span<const std::uint8_t> mask) {
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  if (shape.width < 1 || shape.height < 1 || shape.depth < 1 || reference.size() != pixels ||
      warped.size() != pixels || (!mask.empty() && mask.size() != pixels)) {
    throw Error(ErrorKind::invalid_argument,
                "local_agreement: the images and the mask must have a value for each pixel");
  }
  std::vector<float> known(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    known[i] =
        std::isfinite(reference[i]) && std::isfinite(warped[i]) && (mask.empty() || mask[i] != 0)
            ? 1.0F
            : 0.0F;
  }
  const std::vector<float> f = centred(reference, known);
  const std::vector<float> w = centred(warped, known);
  const double floor_f = detail::intensity_variance(f, shape, known).floor;
  const double floor_w = detail::intensity_variance(w, shape, known).floor;
  const auto n = detail::window_sums(shape, [&](std::size_t i) { return known[i]; });
  const auto sum_f = detail::window_sums(shape, [&](std::size_t i) { return f[i]; });
  const auto sum_w = detail::window_sums(shape, [&](std::size_t i) { return w[i]; });
  const auto sum_ff = detail::window_sums(shape, [&](std::size_t i) { return f[i] * f[i]; });
  const auto sum_ww = detail::window_sums(shape, [&](std::size_t i) { return w[i] * w[i]; });
  const auto sum_fw = detail::window_sums(shape, [&](std::size_t i) { return f[i] * w[i]; });
  const auto within = detail::window_sums(shape, [](std::size_t) { return 1.0F; });
  std::vector<float> result(pixels, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < pixels; ++i) {
    const auto count = static_cast<double>(n[i]);
    if (known[i] == 0 || n[i] < least_known_share * within[i]) continue;
    const double f_variance = variance(sum_f[i], sum_ff[i], count);
    const double w_variance = variance(sum_w[i], sum_ww[i], count);
    if (f_variance < least_variance * floor_f && w_variance < least_variance * floor_w) continue;
    const double covariance =
        static_cast<double>(sum_fw[i]) / count -
        static_cast<double>(sum_f[i]) / count * (static_cast<double>(sum_w[i]) / count);
    result[i] =
        static_cast<float>(covariance / std::sqrt((f_variance + floor_f) * (w_variance + floor_w)));
  }
  return result;
}

}  // namespace warpalign

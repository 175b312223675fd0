// Whether two images that hardly moved agree because a pattern of the sensor covers them.
#include "registration/patterns/fine_agreement.hpp"

#include "registration/numerics/box_sum.hpp"
#include "registration/numerics/correlation.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

namespace {

// Fine structure that correlates by less is mostly noise.
constexpr double least_fine_correlation = 0.4;
// The radii of the means between which structure is compared with fine structure. Pixels that are
// as near to an edge as twice the larger one are left out.
constexpr std::int64_t inner_radius = 1;
constexpr std::int64_t outer_radius = 4;
constexpr std::int64_t margin = 2 * outer_radius;

/// The correlation of two images where both are known.
double correlation(const SensorImages& images, const std::vector<float>& a,
                   const std::vector<float>& b) {
  Moments sums;
  const auto is_known = [&](std::size_t i) {
    return (images.reference_weight.empty() || images.reference_weight[i] > 0) &&
           (images.moving_weight.empty() || images.moving_weight[i] > 0);
  };
  for (std::int64_t y = margin; y < images.height - margin; ++y) {
    for (std::int64_t x = margin; x < images.width - margin; ++x) {
      const auto i = static_cast<std::size_t>(y * images.width + x);
      if (!is_known(i)) continue;
      const auto u = static_cast<double>(a[i]), v = static_cast<double>(b[i]);
      ++sums.n;
      sums.r += u;
      sums.m += v;
      sums.rr += u * u;
      sums.mm += v * v;
      sums.rm += u * v;
    }
  }
  return sums.n > 0 ? correlation_of(sums) : 0;
}

/// Of four neighbours; 0 at the edges.
std::vector<float> laplacian(std::span<const float> image, std::int64_t width,
                             std::int64_t height) {
  std::vector<float> result(image.size(), 0);
  for (std::int64_t y = 1; y + 1 < height; ++y) {
    const float* row = image.data() + y * width;
    float* to = result.data() + y * width;
    for (std::int64_t x = 1; x + 1 < width; ++x) {
      to[x] = row[x - 1] + row[x + 1] + row[x - width] + row[x + width] - 4 * row[x];
    }
  }
  return result;
}

/// Structure between the two radii.
std::vector<float> coarser(std::span<const float> image, std::int64_t width, std::int64_t height) {
  std::vector<float> result(image.begin(), image.end());
  std::vector<float> fine = result;
  subtract_local_mean(result, width, height, outer_radius);
  subtract_local_mean(fine, width, height, inner_radius);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= fine[i];
  return result;
}

}  // namespace

double fine_agreement(const SensorImages& images) {
  const auto correlation_of = [&](const auto& part) {
    return correlation(images, part(images.reference, images.width, images.height),
                       part(images.moving, images.width, images.height));
  };
  const double fine = correlation_of(laplacian);
  if (fine < least_fine_correlation) return -1;
  return fine - correlation_of(coarser);
}

}  // namespace warpalign::detail

// The variance below which windows of an image count as without structure.
#include "registration/deformation/noise_floor.hpp"

#include "registration/numerics/upper_median.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

namespace {

constexpr std::int64_t max_sampled = 30000;
constexpr double min_share = 1e-5;
// The median of |x| of a normal distribution of deviation 1.
constexpr double normal_median = 0.6745;

}  // namespace

double noise_floor(std::span<const float> pixels, const Shape& shape,
                   std::span<const float> known) {
  const std::int64_t width = shape.width;
  const std::int64_t plane = width * shape.height;
  const bool in_space = shape.depth > 1;
  const std::int64_t every = std::max<std::int64_t>(shape.pixels() / max_sampled, 1);
  std::vector<float> differences;
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (std::int64_t i = 0; i < shape.pixels(); i += every) {
    const float* p = pixels.data() + i;
    const auto at = static_cast<std::size_t>(i);
    if (!known.empty() && known[at] == 0) continue;
    const auto value = static_cast<double>(*p);
    sum += value;
    squares += value * value;
    count += 1;
    if (i % width + 1 >= width || i / width % shape.height + 1 >= shape.height) continue;
    const auto is_known = [&](std::int64_t first) {
      return known.empty() || (known[static_cast<std::size_t>(first)] != 0 &&
                               known[static_cast<std::size_t>(first + 1)] != 0 &&
                               known[static_cast<std::size_t>(first + width)] != 0 &&
                               known[static_cast<std::size_t>(first + width + 1)] != 0);
    };
    if (!is_known(i)) continue;
    float difference = (p[0] - p[1]) - (p[width] - p[width + 1]);
    if (in_space) {
      if (i / plane + 1 >= shape.depth || !is_known(i + plane)) continue;
      const float* q = p + plane;
      difference -= (q[0] - q[1]) - (q[width] - q[width + 1]);
    }
    differences.push_back(std::abs(difference));
  }
  const double mean = sum / std::max(count, 1.0);
  const double variance = std::max(squares / std::max(count, 1.0) - mean * mean, 1e-12);
  double noise = 0;
  if (!differences.empty()) {
    const double deviation =
        static_cast<double>(upper_median(std::span(differences))) / normal_median;
    noise = deviation * deviation / (in_space ? 8 : 4);
  }
  return std::max(0.5 * noise, min_share * variance);
}

}  // namespace warpalign::detail

// The variance below which windows of an image count as without structure.
#include "registration/deformation/noise_floor.hpp"

#include "registration/numerics/upper_median.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

namespace {

constexpr double min_share = 1e-5;
// The median of |x| of a normal distribution of deviation 1.
constexpr double normal_median = 0.6745;

/// Visits every `every`-th pixel of an image, without divisions.
class SampledPixel {
 public:
  SampledPixel(const Shape& shape, std::int64_t every)
      : shape_(shape),
        step_{every % shape.width, every / shape.width % shape.height,
              every / (shape.width * shape.height)} {}

  void advance() {
    for (std::size_t a = 0; a < 3; ++a) at_[a] += step_[a];
    carry(0, shape_.width);
    carry(1, shape_.height);
  }
  /// Whether the pixel has a next one along each axis.
  [[nodiscard]] bool has_difference() const {
    return at_[0] + 1 < shape_.width && at_[1] + 1 < shape_.height &&
           (shape_.depth == 1 || at_[2] + 1 < shape_.depth);
  }

 private:
  void carry(std::size_t axis, std::int64_t length) {
    if (at_[axis] < length) return;
    at_[axis] -= length;
    ++at_[axis + 1];
  }

  Shape shape_;
  std::array<std::int64_t, 3> at_{}, step_;
};

/// Whether the pixel and all whose values are in its difference are known.
bool difference_is_known(std::span<const float> known, std::int64_t i, const Shape& shape) {
  const auto square_is_known = [&](std::int64_t first) {
    const float* k = known.data() + first;
    return k[0] != 0 && k[1] != 0 && k[shape.width] != 0 && k[shape.width + 1] != 0;
  };
  return known.empty() || (square_is_known(i) &&
                           (shape.depth == 1 || square_is_known(i + shape.width * shape.height)));
}

}  // namespace

IntensityVariance intensity_variance(std::span<const float> samples, const NoiseSampling& sampling,
                                     const Shape& shape, std::span<const float> known) {
  const auto number = static_cast<std::size_t>(sampling.count);
  std::vector<float> differences;
  differences.reserve(number);
  SampledPixel pixel(shape, sampling.every);
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (std::size_t s = 0; s < number; ++s, pixel.advance()) {
    const std::int64_t i = static_cast<std::int64_t>(s) * sampling.every;
    if (!known.empty() && known[static_cast<std::size_t>(i)] == 0) continue;
    const auto value = static_cast<double>(samples[s]);
    sum += value;
    squares += value * value;
    count += 1;
    if (pixel.has_difference() && difference_is_known(known, i, shape)) {
      differences.push_back(std::abs(samples[number + s]));
    }
  }
  const double mean = sum / std::max(count, 1.0);
  const double variance = std::max(squares / std::max(count, 1.0) - mean * mean, 1e-12);
  double noise = 0;
  if (!differences.empty()) {
    const double deviation =
        static_cast<double>(upper_median_of_magnitudes(differences)) / normal_median;
    noise = deviation * deviation / (shape.depth > 1 ? 8 : 4);
  }
  return {variance, std::max(0.5 * noise, min_share * variance)};
}

IntensityVariance intensity_variance(std::span<const float> pixels, const Shape& shape,
                                     std::span<const float> known) {
  const NoiseSampling sampling(shape);
  const auto number = static_cast<std::size_t>(sampling.count);
  std::vector<float> samples(2 * number);
  SampledPixel pixel(shape, sampling.every);
  for (std::size_t s = 0; s < number; ++s, pixel.advance()) {
    const std::int64_t i = static_cast<std::int64_t>(s) * sampling.every;
    const float* p = pixels.data() + i;
    samples[s] = *p;
    if (!pixel.has_difference()) continue;
    const auto across = [&](const float* q) {
      return (q[0] - q[1]) - (q[shape.width] - q[shape.width + 1]);
    };
    samples[number + s] =
        shape.depth > 1 ? across(p) - across(p + shape.width * shape.height) : across(p);
  }
  return intensity_variance(samples, sampling, shape, known);
}

}  // namespace warpalign::detail

// By what factor an image shows the pattern of a sensor.
#include <warpalign/sensor_pattern.hpp>

#include "sensor/pattern_checks.hpp"
#include "sensor/pattern_samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace warpalign {
namespace {

using detail::PatternSamples;
using detail::Plane;

// Displacements of the pattern by which an image shows it by chance only.
constexpr int num_displacements = 64;
// Both are compared without the means of 3 x 3 pixels, which connect pixels at most 2 apart.
constexpr std::int64_t fine_radius = 1;
constexpr std::int64_t least_displacement = 3;

constexpr double min_deviations = 6;
constexpr double same_deviations = 3;

/// What differs from the mean of 3 x 3 pixels: nearly all of a pattern, and little of a scene.
Plane finest_of(const PatternSamples& samples, const Plane& image) {
  Plane rest = detail::smoothed(samples, image, fine_radius);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    rest[i] = samples.known[i] != 0 ? image[i] - rest[i] : 0;
  }
  return rest;
}

/// The sum of the products of an image and a pattern that is displaced cyclically.
double product_at(const PatternSamples& samples, const Plane& image, const Plane& pattern,
                  std::int64_t dx, std::int64_t dy) {
  double sum = 0;
  const auto add_row = [&](const float* a, const float* b, std::int64_t count) {
    for (std::int64_t x = 0; x < count; ++x) {
      sum += static_cast<double>(a[x]) * static_cast<double>(b[x]);
    }
  };
  const std::int64_t width = samples.width;
  for (std::int64_t y = 0; y < samples.height; ++y) {
    const float* row = image.data() + y * width;
    const float* displaced = pattern.data() + (y + dy) % samples.height * width;
    add_row(row, displaced + dx, width - dx);
    add_row(row + width - dx, displaced, dx);
  }
  return sum;
}

/// Element k of a sequence that is spread evenly over [least_displacement, length -
/// least_displacement]: multiples of an irrational number, without their integers.
std::int64_t displacement_at(int k, double irrational, std::int64_t length) {
  const double fraction = std::fmod((k + 0.5) * irrational, 1.0);
  const std::int64_t range = length - 2 * least_displacement;
  return least_displacement + static_cast<std::int64_t>(
                                  fraction * static_cast<double>(std::max<std::int64_t>(range, 0)));
}

/// The root mean square of the products at displacements along both axes, by which neither columns
/// nor rows of the pattern meet themselves.
double product_by_chance(const PatternSamples& samples, const Plane& image, const Plane& pattern) {
  // Roberts 2018, "The unreasonable effectiveness of quasirandom sequences": powers of the inverse
  // of the plastic number.
  constexpr double first = 0.7548776662466927, second = 0.5698402909980532;
  double squares = 0;
  for (int k = 0; k < num_displacements; ++k) {
    const double product =
        product_at(samples, image, pattern, displacement_at(k, first, samples.width),
                   displacement_at(k, second, samples.height));
    squares += product * product;
  }
  return std::sqrt(squares / num_displacements);
}

}  // namespace

double sensor_pattern_gain(const SensorPattern& pattern, const HostImage& image,
                           const HostImage* mask) {
  detail::check_like_pattern(pattern, image);
  detail::check_frames(std::span(&image, 1), mask);
  if (std::min(image.width, image.height) <= 2 * least_displacement) return 0;
  const PatternSamples samples(std::span(&image, 1), mask);
  const Plane shown = finest_of(samples, samples.frames.front());
  const Plane expected = finest_of(samples, pattern.offsets);
  const double energy = product_at(samples, expected, expected, 0, 0);
  if (!(energy > 0)) return 0;
  const double gain = product_at(samples, shown, expected, 0, 0) / energy;
  const double deviation = product_by_chance(samples, shown, expected) / energy;
  if (!(gain > min_deviations * deviation)) return 0;
  if (gain * gain * detail::structure_of(samples, pattern.offsets) <
      detail::notable_part * detail::structure_of(samples, samples.frames.front())) {
    return 0;
  }
  return std::abs(gain - 1) <= same_deviations * deviation ? 1 : gain;
}

}  // namespace warpalign

// Images whose contrast is tiny beside their mean, or whose values f32 cannot hold.
#include "registration/resources/pedestal.hpp"

#include "device/host_rows.hpp"
#include "registration/numerics/host_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

namespace {

// At this ratio of mean to range, f32 still resolves 2^-12 of the range.
constexpr double max_ratio = 1 << 12;
// Beyond these, sums of the squares of f32 values lose their range.
constexpr double largest_value = 1e37, smallest_value = 1e-37;
// The pixels of the sample along each axis.
constexpr std::int64_t sampled = 64;

const std::byte* row_of(const HostImage& image, std::int64_t y) {
  return static_cast<const std::byte*>(image.data) + static_cast<std::size_t>(y) * pitch_of(image);
}

bool may_lose_contrast(PixelType type) {
  return type == PixelType::i32 || type == PixelType::u32 || type == PixelType::f64;
}

}  // namespace

std::optional<Rescaling> rescaling_of(const HostImage& image) {
  if (!may_lose_contrast(image.type)) return {};
  if (image.data == nullptr || !has_valid_rows(image)) return {};
  const std::int64_t step_x = 1 + (image.width - 1) / sampled;
  const std::int64_t step_y = 1 + (image.height - 1) / sampled;
  double mean = 0, count = 0, least = 0, most = 0;
  for (std::int64_t y = 0; y < image.height; y += step_y) {
    for (std::int64_t x = 0; x < image.width; x += step_x) {
      double value = 0;
      read_line(image.type, row_of(image, y) + static_cast<std::size_t>(x) * size_of(image.type),
                {&value, 1});
      if (!std::isfinite(value)) continue;
      least = count == 0 ? value : std::min(least, value);
      most = count == 0 ? value : std::max(most, value);
      ++count;
      mean += value / count - mean / count;  // a sum might exceed the range of double
    }
  }
  if (count == 0) return {};
  Rescaling rescaling;
  const double size = std::max(std::abs(least), std::abs(most));
  if (size > largest_value || (size > 0 && size < smallest_value)) {
    rescaling.exponent = -std::ilogb(size);
  }
  if (most / 2 - least / 2 < std::abs(mean) / (2 * max_ratio)) rescaling.pedestal = mean;
  if (rescaling.exponent == 0 && rescaling.pedestal == 0) return {};
  return rescaling;
}

std::vector<float> rescaled(const HostImage& image, const Rescaling& rescaling) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(image.shape().plane()));
  std::vector<double> line(static_cast<std::size_t>(image.width));
  for (std::int64_t y = 0; y < image.height; ++y) {
    read_line(image.type, row_of(image, y), line);
    for (const double value : line) {
      values.push_back(
          static_cast<float>(std::ldexp(value - rescaling.pedestal, rescaling.exponent)));
    }
  }
  return values;
}

}  // namespace warpalign::detail

// Images whose contrast is tiny beside their mean.
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
// The pixels of the sample along each axis.
constexpr std::int64_t sampled = 64;

const std::byte* row_of(const HostImage& image, std::int64_t y) {
  return static_cast<const std::byte*>(image.data) + static_cast<std::size_t>(y) * pitch_of(image);
}

bool may_lose_contrast(PixelType type) {
  return type == PixelType::i32 || type == PixelType::u32 || type == PixelType::f64;
}

}  // namespace

std::optional<double> pedestal_of(const HostImage& image) {
  if (!may_lose_contrast(image.type)) return {};
  if (image.data == nullptr || !has_valid_rows(image)) return {};
  const std::int64_t step_x = 1 + (image.width - 1) / sampled;
  const std::int64_t step_y = 1 + (image.height - 1) / sampled;
  double sum = 0, count = 0, least = 0, most = 0;
  for (std::int64_t y = 0; y < image.height; y += step_y) {
    for (std::int64_t x = 0; x < image.width; x += step_x) {
      double value = 0;
      read_line(image.type, row_of(image, y) + static_cast<std::size_t>(x) * size_of(image.type),
                {&value, 1});
      if (!std::isfinite(value)) continue;
      least = count == 0 ? value : std::min(least, value);
      most = count == 0 ? value : std::max(most, value);
      sum += value;
      ++count;
    }
  }
  if (count == 0) return {};
  const double mean = sum / count;
  if (!std::isfinite(mean) || most - least >= std::abs(mean) / max_ratio) return {};
  return mean;
}

std::vector<float> without_pedestal(const HostImage& image, double pedestal) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(image.shape().plane()));
  std::vector<double> line(static_cast<std::size_t>(image.width));
  for (std::int64_t y = 0; y < image.height; ++y) {
    read_line(image.type, row_of(image, y), line);
    for (const double value : line) values.push_back(static_cast<float>(value - pedestal));
  }
  return values;
}

}  // namespace warpalign::detail

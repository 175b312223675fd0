// Images whose contrast is tiny beside their mean.
#include "registration/resources/pedestal.hpp"

#include "device/host_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace warpalign::detail {

namespace {

// At this ratio of mean to range, f32 still resolves 2^-12 of the range.
constexpr double max_ratio = 1 << 12;
// The pixels of the sample along each axis.
constexpr std::int64_t sampled = 64;

template <typename Sample>
double value_at(const std::byte* row, std::int64_t x) {
  Sample sample;
  std::memcpy(&sample, row + static_cast<std::size_t>(x) * sizeof(Sample), sizeof(Sample));
  return static_cast<double>(sample);
}

/// Calls use(value) for the pixels whose coordinates are multiples of the steps, row by row.
template <typename Sample, typename Use>
void for_pixels(const HostImage& image, std::int64_t step_x, std::int64_t step_y, const Use& use) {
  const auto* data = static_cast<const std::byte*>(image.data);
  for (std::int64_t y = 0; y < image.height; y += step_y) {
    const std::byte* row = data + static_cast<std::size_t>(y) * pitch_of(image);
    for (std::int64_t x = 0; x < image.width; x += step_x) use(value_at<Sample>(row, x));
  }
}

template <typename Use>
void for_pixels(const HostImage& image, std::int64_t step_x, std::int64_t step_y, const Use& use) {
  if (image.type == PixelType::i32) for_pixels<std::int32_t>(image, step_x, step_y, use);
  if (image.type == PixelType::u32) for_pixels<std::uint32_t>(image, step_x, step_y, use);
  if (image.type == PixelType::f64) for_pixels<double>(image, step_x, step_y, use);
}

}  // namespace

std::optional<double> pedestal_of(const HostImage& image) {
  if (image.data == nullptr || !has_valid_rows(image)) return {};
  double sum = 0, count = 0, least = 0, most = 0;
  for_pixels(image, 1 + (image.width - 1) / sampled, 1 + (image.height - 1) / sampled,
             [&](double value) {
               if (!std::isfinite(value)) return;
               least = count == 0 ? value : std::min(least, value);
               most = count == 0 ? value : std::max(most, value);
               sum += value;
               ++count;
             });
  if (count == 0) return {};
  const double mean = sum / count;
  if (!std::isfinite(mean) || most - least >= std::abs(mean) / max_ratio) return {};
  return mean;
}

std::vector<float> without_pedestal(const HostImage& image, double pedestal) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(image.shape().plane()));
  for_pixels(image, 1, 1,
             [&](double value) { values.push_back(static_cast<float>(value - pedestal)); });
  return values;
}

}  // namespace warpalign::detail

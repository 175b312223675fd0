// Stage: detection and removal of impulse noise ("salt and pepper").
#include <warpalign/backend/stages/filter/impulse_filter.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "stages/results.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace warpalign {

namespace {

constexpr const char* impulse_filter_stage = "impulse_filter";
constexpr std::int64_t max_rows = 64;

ImpulseFilterSpec checked(const ImpulseFilterSpec& spec) {
  detail::check_shape(impulse_filter_stage, "the image", spec.shape);
  detail::check_grey(impulse_filter_stage, "the image", spec.input);
  return spec;
}

int step_of(const Shape& shape) {
  return static_cast<int>((shape.height + max_rows - 1) / max_rows);
}

std::size_t rows_of(const Shape& shape) {
  const std::int64_t step = step_of(shape);
  return static_cast<std::size_t>((shape.height + step - 1) / step);
}

/// The pixels of an image on the host.
template <class Pixel>
class Rows {
 public:
  explicit Rows(const HostImage& image)
      : start_(static_cast<const std::byte*>(image.data)),
        pitch_(static_cast<std::int64_t>(detail::pitch_of(image))),
        width_(image.width),
        height_(image.height) {}

  [[nodiscard]] std::span<const Pixel> row(std::int64_t y) const {
    return {reinterpret_cast<const Pixel*>(start_ + y * pitch_), static_cast<std::size_t>(width_)};
  }
  /// Whether a pixel differs from all eight neighbours.
  [[nodiscard]] bool is_isolated(std::int64_t x, std::int64_t y) const {
    const Pixel own = row(y)[static_cast<std::size_t>(x)];
    int same = 0;
    for (std::int64_t j = std::max<std::int64_t>(y - 1, 0); j <= std::min(y + 1, height_ - 1);
         ++j) {
      const std::span<const Pixel> pixels = row(j);
      for (std::int64_t i = std::max<std::int64_t>(x - 1, 0); i <= std::min(x + 1, width_ - 1);
           ++i) {
        same += pixels[static_cast<std::size_t>(i)] == own ? 1 : 0;
      }
    }
    return same == 1;
  }

 private:
  const std::byte* start_;
  std::int64_t pitch_, width_, height_;
};

// Has no branches, so that compilers vectorize it: most rows have no such pixel.
template <class Pixel, class Is>
bool has_any(std::span<const Pixel> pixels, Is is) {
  using Flag =
      std::conditional_t<sizeof(Pixel) == 1, std::uint8_t,
                         std::conditional_t<sizeof(Pixel) == 2, std::uint16_t, std::uint32_t>>;
  Flag any = 0;
  for (const Pixel value : pixels) any = static_cast<Flag>(any | (is(value) ? 1U : 0U));
  return any != 0;
}

template <class Pixel>
ImpulseStatistics statistics_of(const HostImage& image) {
  const Rows<Pixel> rows(image);
  const std::int64_t step = step_of(image.shape());
  Pixel lowest = rows.row(0)[0];
  Pixel highest = lowest;
  for (std::int64_t y = 0; y < image.height; y += step) {
    // Comparisons with NaN are false.
    for (const Pixel value : rows.row(y)) {
      lowest = value < lowest ? value : lowest;
      highest = value > highest ? value : highest;
    }
  }
  const auto at_an_end = [&](Pixel value) { return !(value > lowest && value < highest); };
  std::int64_t isolated = 0;
  for (std::int64_t y = 0; y < image.height; y += step) {
    const std::span<const Pixel> pixels = rows.row(y);
    if (!has_any(pixels, at_an_end)) continue;
    for (std::size_t x = 0; x < pixels.size(); ++x) {
      if (!at_an_end(pixels[x])) continue;
      isolated += rows.is_isolated(static_cast<std::int64_t>(x), y) ? 1 : 0;
    }
  }
  const auto examined =
      static_cast<double>(rows_of(image.shape())) * static_cast<double>(image.width);
  return {static_cast<float>(lowest), static_cast<float>(highest),
          static_cast<double>(isolated) / examined};
}

// Whether every row is aligned for a pixel of the type.
bool is_aligned(const HostImage& image) {
  const std::size_t size = size_of(image.type);
  return reinterpret_cast<std::uintptr_t>(image.data) % size == 0 &&
         detail::pitch_of(image) % size == 0;
}

}  // namespace

ImpulseStatistics impulse_statistics(const HostImage& image) {
  detail::check_shape(impulse_filter_stage, "the image", image.shape());
  detail::check_grey(impulse_filter_stage, "the image", image.type);
  detail::check_rows(impulse_filter_stage, "the image", image);
  if (!is_aligned(image)) {
    std::vector<std::byte> pixels(static_cast<std::size_t>(image.shape().plane()) *
                                  size_of(image.type));
    detail::copy_rows(image, pixels.data());
    return impulse_statistics({pixels.data(), image.type, image.width, image.height, 0});
  }
  if (image.type == PixelType::u8) return statistics_of<std::uint8_t>(image);
  if (image.type == PixelType::u16) return statistics_of<std::uint16_t>(image);
  return statistics_of<float>(image);
}

ImpulseFilterPlan::ImpulseFilterPlan(const Device& device, const ImpulseFilterSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      row_step_(step_of(spec.shape)),
      kernel_(detail::Access::driver(device).make(spec)),
      rows_(std::make_shared<detail::Results<float>>(device, 2 * rows_of(spec.shape))) {}

ImpulseStatistics ImpulseFilterPlan::impulse_statistics(Stream& stream, const Image& input) const {
  detail::check_stream(impulse_filter_stage, device_, stream);
  detail::check_image(impulse_filter_stage, "the image", device_, input, spec_.input, spec_.shape);
  const std::size_t n = rows_of(spec_.shape);
  kernel_->enqueue_extremes(detail::Access::queue(stream), detail::Access::memory(input), row_step_,
                            rows_->memory());
  const std::span<const float> extremes = rows_->fetch(stream);
  ImpulseStatistics impulse_statistics{extremes[0], extremes[1], 0};
  for (std::size_t i = 1; i < n; ++i) {
    impulse_statistics.lowest = std::fmin(impulse_statistics.lowest, extremes[2 * i]);
    impulse_statistics.highest = std::fmax(impulse_statistics.highest, extremes[2 * i + 1]);
  }
  kernel_->enqueue_isolated(detail::Access::queue(stream), detail::Access::memory(input), row_step_,
                            impulse_statistics, rows_->memory());
  double isolated = 0;
  for (const float in_row : rows_->fetch(stream, n)) isolated += static_cast<double>(in_row);
  impulse_statistics.isolated =
      isolated / (static_cast<double>(n) * static_cast<double>(spec_.shape.width));
  return impulse_statistics;
}

void ImpulseFilterPlan::execute(Stream& stream, const Image& input,
                                const ImpulseStatistics& impulse_statistics, Image& output) const {
  detail::check_stream(impulse_filter_stage, device_, stream);
  detail::check_image(impulse_filter_stage, "the image", device_, input, spec_.input, spec_.shape);
  detail::check_image(impulse_filter_stage, "the output", device_, output, PixelType::f32,
                      spec_.shape);
  detail::check_distinct(impulse_filter_stage, input, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input), impulse_statistics,
                   detail::Access::memory(output));
}

}  // namespace warpalign

// Stage: detection and removal of impulse noise ("salt and pepper").
#include <warpalign/backend/stages/filter/impulse_filter.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/results.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace warpalign {

namespace {

constexpr const char* stage = "impulse_filter";
constexpr std::int64_t max_rows = 64;

ImpulseFilterSpec checked(const ImpulseFilterSpec& spec) {
  detail::check_shape(stage, "the image", spec.shape);
  detail::check_grey(stage, "the image", spec.input);
  return spec;
}

int step_of(const Shape& shape) {
  return static_cast<int>((shape.height + max_rows - 1) / max_rows);
}

std::size_t rows_of(const Shape& shape) {
  const std::int64_t step = step_of(shape);
  return static_cast<std::size_t>((shape.height + step - 1) / step);
}

}  // namespace

ImpulseFilterPlan::ImpulseFilterPlan(const Device& device, const ImpulseFilterSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      row_step_(step_of(spec.shape)),
      kernel_(detail::Access::driver(device).make(spec)),
      rows_(std::make_shared<detail::Results<float>>(device, 2 * rows_of(spec.shape))) {}

ImpulseStatistics ImpulseFilterPlan::impulse_statistics(Stream& stream, const Image& input) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the image", device_, input, spec_.input, spec_.shape);
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
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the image", device_, input, spec_.input, spec_.shape);
  detail::check_image(stage, "the output", device_, output, PixelType::f32, spec_.shape);
  detail::check_distinct(stage, input, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input), impulse_statistics,
                   detail::Access::memory(output));
}

}  // namespace warpalign

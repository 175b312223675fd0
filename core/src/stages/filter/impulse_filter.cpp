// Stage: impulse noise ("salt and pepper") found and filled.
#include <warpalign/backend/stages/filter/impulse_filter.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace warpalign {

namespace {

constexpr const char* stage = "despeckle";
constexpr std::int64_t most_rows = 64;

DespeckleSpec checked(const DespeckleSpec& spec) {
  detail::check_shape(stage, "the image", spec.shape);
  if (spec.input == PixelType::c32 || spec.input == PixelType::f16) {
    detail::refuse(stage, std::string("takes u8, u16 or f32 pixels, not ") + name_of(spec.input));
  }
  return spec;
}

int step_of(const Shape& shape) {
  return static_cast<int>((shape.height + most_rows - 1) / most_rows);
}

std::size_t rows_of(const Shape& shape) {
  const std::int64_t step = step_of(shape);
  return static_cast<std::size_t>((shape.height + step - 1) / step);
}

}  // namespace

DespecklePlan::DespecklePlan(const Device& device, const DespeckleSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      row_step_(step_of(spec.shape)),
      kernel_(detail::Access::driver(device).make(spec)),
      rows_(std::make_shared<Buffer>(device.make_buffer(2 * rows_of(spec.shape) * sizeof(float)))) {
}

SpeckleCensus DespecklePlan::census(Stream& stream, const Image& input) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the image", device_, input, spec_.input, spec_.shape);
  const std::size_t n = rows_of(spec_.shape);
  std::vector<float> rows(2 * n);
  kernel_->enqueue_extremes(detail::Access::queue(stream), detail::Access::memory(input), row_step_,
                            detail::Access::memory(*rows_));
  stream.download(*rows_, rows.data(), rows.size() * sizeof(float));
  SpeckleCensus census{rows[0], rows[1], 0};
  for (std::size_t i = 1; i < n; ++i) {
    census.lowest = std::fmin(census.lowest, rows[2 * i]);
    census.highest = std::fmax(census.highest, rows[2 * i + 1]);
  }
  kernel_->enqueue_isolated(detail::Access::queue(stream), detail::Access::memory(input), row_step_,
                            census, detail::Access::memory(*rows_));
  stream.download(*rows_, rows.data(), n * sizeof(float));
  double isolated = 0;
  for (std::size_t i = 0; i < n; ++i) isolated += static_cast<double>(rows[i]);
  census.isolated = isolated / (static_cast<double>(n) * static_cast<double>(spec_.shape.width));
  return census;
}

void DespecklePlan::execute(Stream& stream, const Image& input, const SpeckleCensus& census,
                            Image& output) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the image", device_, input, spec_.input, spec_.shape);
  detail::check_image(stage, "the output", device_, output, PixelType::f32, spec_.shape);
  detail::check_distinct(stage, input, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input), census,
                   detail::Access::memory(output));
}

}  // namespace warpalign

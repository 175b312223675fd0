// Stage: sums over a field of gradient orientations, for its mean and energy.
#include <warpalign/backend/stages/filter/direction_sums.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/async_results.hpp"
#include "stages/group_sums.hpp"

#include <span>

namespace warpalign {

namespace {

constexpr const char* direction_sums_stage = "direction_sums";
constexpr std::size_t numbers_a_result =
    backend::direction_sum_count * backend::direction_sum_groups;
static_assert(detail::max_side * detail::max_side <= std::int64_t{backend::direction_sum_groups}
                                                         << 24U);

DirectionSumsSpec checked(const DirectionSumsSpec& spec) {
  detail::check_results(direction_sums_stage, spec.results);
  return spec;
}

}  // namespace

DirectionSumsPlan::DirectionSumsPlan(const Device& device, const DirectionSumsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      partials_(std::make_shared<detail::AsyncResults<float>>(
          device, static_cast<std::size_t>(spec.results) * numbers_a_result)) {}

void DirectionSumsPlan::enqueue(Stream& stream, const Image& cosines, const Image& sines,
                                std::int64_t result) const {
  detail::check_stream(direction_sums_stage, device_, stream);
  const Shape& shape = cosines.shape();
  detail::check_shape(direction_sums_stage, "the field", shape);
  detail::check_image(direction_sums_stage, "the cosines", device_, cosines, PixelType::f32, shape);
  detail::check_image(direction_sums_stage, "the sines", device_, sines, PixelType::f32, shape);
  detail::check_result(direction_sums_stage, result, spec_.results);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(cosines),
                   detail::Access::memory(sines), shape.plane(), result, partials_->memory());
}

void DirectionSumsPlan::enqueue_copy(Stream& stream) const {
  detail::check_stream(direction_sums_stage, device_, stream);
  partials_->enqueue_copy(stream);
}

DirectionSums DirectionSumsPlan::wait(std::int64_t result) const {
  detail::check_result(direction_sums_stage, result, spec_.results);
  const std::span<const float> partials = partials_->wait().subspan(
      static_cast<std::size_t>(result) * numbers_a_result, numbers_a_result);
  const auto total = [&](std::size_t sum) {
    return detail::total_of_groups(partials, backend::direction_sum_groups, sum);
  };
  return {total(0), total(1), total(2), total(3)};
}

}  // namespace warpalign

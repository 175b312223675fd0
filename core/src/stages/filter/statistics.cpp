// Stage: mean, minimum, maximum and number of non-finite pixels of an image or a volume.
#include <warpalign/backend/stages/filter/statistics.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

namespace warpalign {

namespace {

constexpr const char* statistics_stage = "statistics";

StatisticsSpec checked(const StatisticsSpec& spec) {
  detail::check_shape(statistics_stage, "the image", spec.shape, detail::max_side);
  detail::check_grey(statistics_stage, "the image", spec.input);
  if (spec.signal == Signal::gradient && spec.shape.depth != 1) {
    detail::refuse(statistics_stage,
                   "gradients need an image of depth 1, not a volume of " + to_string(spec.shape));
  }
  return spec;
}

}  // namespace

static_assert(sizeof(StatisticsRecord) == 16, "kernels write this layout");

StatisticsPlan::StatisticsPlan(const Device& device, const StatisticsSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void StatisticsPlan::execute(Stream& stream, const Image& input, Buffer& record) const {
  detail::check_stream(statistics_stage, device_, stream);
  detail::check_image(statistics_stage, "the input", device_, input, spec_.input, spec_.shape);
  detail::check_buffer(statistics_stage, "the record", device_, record, sizeof(StatisticsRecord));
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(record));
}

}  // namespace warpalign

// Stage: the overlap of two images at every shift, if one of them is a rectangle without a mask.
#include <warpalign/backend/stages/spectrum/overlap_counts.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/spectrum/overlap_limits.hpp"

#include <string>

namespace warpalign {

namespace {

constexpr const char* overlap_counts_stage = "overlap_counts";
OverlapCountsSpec checked(const OverlapCountsSpec& spec) {
  detail::check_shape(overlap_counts_stage, "the image", spec.image);
  constexpr std::int64_t most = backend::max_overlap_counts_extent;
  if (spec.image.width > most || spec.image.height > most) {
    const std::string side = std::to_string(most);
    detail::refuse(overlap_counts_stage, "the image must be at most " + side + " x " + side);
  }
  if (spec.batch < 1 || spec.batch > max_overlap_batch) {
    detail::refuse(overlap_counts_stage,
                   "the batch must be 1 to " + std::to_string(max_overlap_batch));
  }
  return spec;
}

}  // namespace

OverlapCountsPlan::OverlapCountsPlan(const Device& device, const OverlapCountsSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void OverlapCountsPlan::execute(Stream& stream, const Image& weights, const Shape& rectangle,
                                Image& overlaps) const {
  detail::check_stream(overlap_counts_stage, device_, stream);
  const auto slices = [&](std::int64_t depth) {
    return Shape{spec_.image.width, spec_.image.height, depth};
  };
  detail::check_image(overlap_counts_stage, "the weights", device_, weights, PixelType::f32,
                      slices(spec_.batch));
  detail::check_image(overlap_counts_stage, "the overlaps", device_, overlaps, PixelType::f32,
                      slices(2 * spec_.batch));
  detail::check_distinct(overlap_counts_stage, weights, overlaps);
  detail::check_shape(overlap_counts_stage, "the rectangle", rectangle);
  if (rectangle.width > spec_.image.width || rectangle.height > spec_.image.height) {
    detail::refuse(overlap_counts_stage, "the rectangle is larger than the image");
  }
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(weights), rectangle,
                   detail::Access::memory(overlaps));
}

}  // namespace warpalign

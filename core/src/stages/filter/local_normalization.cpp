// Stage: local normalization of brightness and contrast.
#include <warpalign/backend/stages/filter/local_normalization.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/filter/axis_weights.hpp"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace warpalign {

namespace {

constexpr const char* local_normalization_stage = "local_normalization";
constexpr double max_normalization_sigma = 1000;

LocalNormalizationSpec checked(const LocalNormalizationSpec& spec) {
  detail::check_shape(local_normalization_stage, "the image", spec.shape);
  detail::check_batch(local_normalization_stage, "the stack", spec.shape, 1, spec.images);
  if (!(spec.sigma > 0) || spec.sigma > max_normalization_sigma) {
    detail::refuse(
        local_normalization_stage,
        "sigma must be above 0 and at most 1000 pixels, not " + std::to_string(spec.sigma));
  }
  if (spec.masked && spec.by_image) {
    detail::refuse(local_normalization_stage, "masked images have no levels of their own");
  }
  return spec;
}

std::unique_ptr<backend::LocalNormalization> make_kernel(const Device& device,
                                                         const LocalNormalizationSpec& spec) {
  LocalNormalizationSpec tall = spec;
  tall.shape = stacked(spec.shape, 1, spec.images);
  tall.images = 1;
  return detail::Access::driver(device).make(backend::LocalNormalization::Setup{
      tall,
      {detail::gaussian_weights({spec.shape.width, spec.shape.width}, spec.sigma),
       detail::gaussian_weights({spec.shape.height, spec.shape.height}, spec.sigma, spec.images)},
      spec.shape.height});
}

void check_levels(const LocalLevels& levels) {
  if (!std::isfinite(levels.mean) || !std::isfinite(levels.floor) || !(levels.floor > 0)) {
    detail::refuse(local_normalization_stage, "the mean must be finite and the floor above 0");
  }
}

backend::SquaredLevels squared(const LocalLevels& levels) {
  return {levels.mean, levels.floor * levels.floor};
}

}  // namespace

LocalNormalizationPlan::LocalNormalizationPlan(const Device& device,
                                               const LocalNormalizationSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(make_kernel(device, spec)) {
  if (!spec.by_image) return;
  const std::size_t bytes = static_cast<std::size_t>(spec.images) * sizeof(backend::SquaredLevels);
  levels_ = std::make_shared<Buffer>(device_.make_buffer(bytes));
}

void LocalNormalizationPlan::check_call(const Stream& stream, const Image& input,
                                        const Image& output) const {
  const Shape stack = stacked(spec_.shape, 2, spec_.images);
  detail::check_stream(local_normalization_stage, device_, stream);
  detail::check_image(local_normalization_stage, "the image", device_, input, PixelType::f32,
                      stack);
  detail::check_image(local_normalization_stage, "the output", device_, output, PixelType::f32,
                      stack);
  detail::check_distinct(local_normalization_stage, input, output);
}

void LocalNormalizationPlan::execute(Stream& stream, const Image& input, const LocalLevels& levels,
                                     Image& output) const {
  if (spec_.masked) detail::refuse(local_normalization_stage, "this plan requires weights");
  if (spec_.by_image) {
    detail::refuse(local_normalization_stage, "this plan requires the levels of each image");
  }
  check_call(stream, input, output);
  check_levels(levels);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input), nullptr,
                   {squared(levels)}, detail::Access::memory(output));
}

void LocalNormalizationPlan::execute(Stream& stream, const Image& input, const Image& weight,
                                     const LocalLevels& levels, Image& output) const {
  if (!spec_.masked)
    detail::refuse(local_normalization_stage, "this plan was made without weights");
  check_call(stream, input, output);
  detail::check_image(local_normalization_stage, "the weight", device_, weight, PixelType::f32,
                      stacked(spec_.shape, 2, spec_.images));
  detail::check_distinct(local_normalization_stage, weight, output);
  check_levels(levels);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   &detail::Access::memory(weight), {squared(levels)},
                   detail::Access::memory(output));
}

void LocalNormalizationPlan::execute(Stream& stream, const Image& input,
                                     std::span<const LocalLevels> levels, Image& output) const {
  if (!spec_.by_image || levels.size() != static_cast<std::size_t>(spec_.images)) {
    detail::refuse(local_normalization_stage,
                   "levels of each image are for a plan with by_image, one for each image");
  }
  check_call(stream, input, output);
  std::vector<backend::SquaredLevels> of_each;
  for (const LocalLevels& one : levels) {
    check_levels(one);
    of_each.push_back(squared(one));
  }
  stream.upload(of_each.data(), levels_->size_bytes(), *levels_);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input), nullptr,
                   {{}, &detail::Access::memory(std::as_const(*levels_))},
                   detail::Access::memory(output));
}

}  // namespace warpalign

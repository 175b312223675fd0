// Stage: local normalization of brightness and contrast.
#include <warpalign/backend/stages/filter/local_normalization.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/filter/axis_weights.hpp"

#include <cmath>

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
       detail::gaussian_weights({spec.shape.height, spec.shape.height}, spec.sigma, spec.images)}});
}

void check_numbers(float mean, float floor) {
  if (!std::isfinite(mean) || !std::isfinite(floor) || !(floor > 0)) {
    detail::refuse(local_normalization_stage, "the mean must be finite and the floor above 0");
  }
}

}  // namespace

LocalNormalizationPlan::LocalNormalizationPlan(const Device& device,
                                               const LocalNormalizationSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(make_kernel(device, spec)) {}

void LocalNormalizationPlan::execute(Stream& stream, const Image& input, float mean, float floor,
                                     Image& output) const {
  if (spec_.masked) detail::refuse(local_normalization_stage, "this plan requires weights");
  detail::check_stream(local_normalization_stage, device_, stream);
  detail::check_image(local_normalization_stage, "the image", device_, input, PixelType::f32,
                      stacked(spec_.shape, 2, spec_.images));
  detail::check_image(local_normalization_stage, "the output", device_, output, PixelType::f32,
                      stacked(spec_.shape, 2, spec_.images));
  detail::check_distinct(local_normalization_stage, input, output);
  check_numbers(mean, floor);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input), nullptr, mean,
                   floor, detail::Access::memory(output));
}

void LocalNormalizationPlan::execute(Stream& stream, const Image& input, const Image& weight,
                                     float mean, float floor, Image& output) const {
  if (!spec_.masked)
    detail::refuse(local_normalization_stage, "this plan was made without weights");
  detail::check_stream(local_normalization_stage, device_, stream);
  detail::check_image(local_normalization_stage, "the image", device_, input, PixelType::f32,
                      stacked(spec_.shape, 2, spec_.images));
  detail::check_image(local_normalization_stage, "the weight", device_, weight, PixelType::f32,
                      stacked(spec_.shape, 2, spec_.images));
  detail::check_image(local_normalization_stage, "the output", device_, output, PixelType::f32,
                      stacked(spec_.shape, 2, spec_.images));
  detail::check_distinct(local_normalization_stage, input, output);
  detail::check_distinct(local_normalization_stage, weight, output);
  check_numbers(mean, floor);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   &detail::Access::memory(weight), mean, floor, detail::Access::memory(output));
}

}  // namespace warpalign

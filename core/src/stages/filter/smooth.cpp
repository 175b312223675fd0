// Stage: Gaussian smoothing and resampling to another grid.
#include <warpalign/backend/stages/filter/smooth.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/filter/axis_weights.hpp"

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* smooth_stage = "smooth";
constexpr double max_smoothing_sigma = 1000;

void check_axis(const detail::AxisGrid& grid) {
  constexpr double slack = 0.5 + 1e-9;
  const double last = grid.origin + static_cast<double>(grid.n_output - 1) * grid.spacing;
  if (grid.origin < -slack || last > static_cast<double>(grid.n_input) - 1 + slack) {
    detail::refuse(smooth_stage, "the output's pixels " + std::to_string(grid.origin) + " to " +
                                     std::to_string(last) + " extend beyond the image's 0 to " +
                                     std::to_string(grid.n_input - 1));
  }
}

detail::AxisGrid x_grid(const SmoothSpec& spec) {
  return {spec.shape.width, spec.output.width, spec.origin.x, spec.spacing};
}

detail::AxisGrid y_grid(const SmoothSpec& spec) {
  return {spec.shape.height, spec.output.height, spec.origin.y, spec.spacing};
}

SmoothSpec checked(const SmoothSpec& spec) {
  detail::check_shape(smooth_stage, "the image", spec.shape);
  detail::check_shape(smooth_stage, "the output", spec.output);
  detail::check_grey(smooth_stage, "the image", spec.input);
  if (!(spec.sigma >= 0) || spec.sigma > max_smoothing_sigma) {
    detail::refuse(smooth_stage,
                   "sigma must be 0 to 1000 pixels, not " + std::to_string(spec.sigma));
  }
  if (!(spec.spacing > 0) || !std::isfinite(spec.spacing) || !std::isfinite(spec.origin.x) ||
      !std::isfinite(spec.origin.y)) {
    detail::refuse(smooth_stage, "the spacing must be above 0 and the origin finite");
  }
  detail::check_batch(smooth_stage, "the stack", spec.shape, 1, spec.images);
  check_axis(x_grid(spec));
  check_axis(y_grid(spec));
  return spec;
}

std::unique_ptr<backend::Smooth> make_kernel(const Device& device, const SmoothSpec& spec) {
  SmoothSpec tall = spec;
  tall.shape = stacked(spec.shape, 1, spec.images);
  tall.output = stacked(spec.output, 1, spec.images);
  tall.images = 1;
  return detail::Access::driver(device).make(
      backend::Smooth::Setup{tall,
                             {detail::gaussian_weights(x_grid(spec), spec.sigma),
                              detail::gaussian_weights(y_grid(spec), spec.sigma, spec.images)}});
}

}  // namespace

SmoothPlan::SmoothPlan(const Device& device, const SmoothSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(make_kernel(device, spec)) {}

void SmoothPlan::execute(Stream& stream, const Image& input, Image& output) const {
  if (spec_.masked) detail::refuse(smooth_stage, "this plan requires a mask");
  detail::check_stream(smooth_stage, device_, stream);
  detail::check_image(smooth_stage, "the image", device_, input, spec_.input,
                      stacked(spec_.shape, 2, spec_.images));
  detail::check_image(smooth_stage, "the output", device_, output, PixelType::f32,
                      stacked(spec_.output, 2, spec_.images));
  detail::check_distinct(smooth_stage, input, output);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(output));
}

void SmoothPlan::execute(Stream& stream, const Image& input, const Image& mask, Image& output,
                         Image& weight) const {
  if (!spec_.masked) detail::refuse(smooth_stage, "this plan was made without a mask");
  detail::check_stream(smooth_stage, device_, stream);
  detail::check_image(smooth_stage, "the image", device_, input, spec_.input,
                      stacked(spec_.shape, 2, spec_.images));
  detail::check_image(smooth_stage, "the mask", device_, mask, PixelType::u8,
                      stacked(spec_.shape, 2, spec_.images));
  detail::check_image(smooth_stage, "the output", device_, output, PixelType::f32,
                      stacked(spec_.output, 2, spec_.images));
  detail::check_image(smooth_stage, "the weight", device_, weight, PixelType::f32,
                      stacked(spec_.output, 2, spec_.images));
  detail::check_distinct(smooth_stage, input, output);
  detail::check_distinct(smooth_stage, output, weight);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(mask), detail::Access::memory(output),
                   detail::Access::memory(weight));
}

}  // namespace warpalign

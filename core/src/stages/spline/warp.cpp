// Stage: bilinear resampling of an image under an affine transform.
#include <warpalign/backend/stages/spline/warp.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <cmath>
#include <string>

namespace warpalign {

namespace {

constexpr const char* warp_stage = "warp";
constexpr std::int64_t max_slices = 65535;

WarpSpec checked(const WarpSpec& spec) {
  detail::check_shape(warp_stage, "the input", spec.input);
  detail::check_shape(warp_stage, "the output", spec.output);
  if (spec.slices < 1 || spec.slices > max_slices) {
    detail::refuse(warp_stage, "the number of slices must be 1 to " + std::to_string(max_slices));
  }
  return spec;
}

void check_finite(const Affine& t) {
  for (const double number : {t.a, t.b, t.c, t.d, t.e, t.f}) {
    if (!std::isfinite(number))
      detail::refuse(warp_stage, "the transform contains NaN or infinity");
  }
}

}  // namespace

WarpPlan::WarpPlan(const Device& device, const WarpSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void WarpPlan::execute(Stream& stream, const Image& input, const Affine& output_to_input,
                       Image& output, std::int64_t slice) const {
  execute(stream, input, std::span(&output_to_input, 1), output, slice);
}

void WarpPlan::execute(Stream& stream, const Image& input, std::span<const Affine> output_to_input,
                       Image& output, std::int64_t first_slice) const {
  detail::check_stream(warp_stage, device_, stream);
  detail::check_image(warp_stage, "the input", device_, input, PixelType::f32, spec_.input);
  detail::check_image(warp_stage, "the output", device_, output, PixelType::f32,
                      {spec_.output.width, spec_.output.height, spec_.slices});
  detail::check_distinct(warp_stage, input, output);
  for (const Affine& transform : output_to_input) check_finite(transform);
  const auto count = static_cast<std::int64_t>(output_to_input.size());
  if (first_slice < 0 || first_slice > spec_.slices) {
    detail::refuse(warp_stage, "the output has no slice " + std::to_string(first_slice));
  }
  if (count > spec_.slices - first_slice) {
    detail::refuse(warp_stage, "the output has no slice " + std::to_string(spec_.slices));
  }
  if (count == 0) return;
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input), output_to_input,
                   detail::Access::memory(output), first_slice);
}

}  // namespace warpalign

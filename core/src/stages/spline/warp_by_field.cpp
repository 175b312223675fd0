// Stage: evaluation of a spline at the points of a displacement field, which the kernel samples.
#include <warpalign/backend/stages/spline/warp_by_field.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/spline/details.hpp"
#include "stages/spline/evaluation_spec.hpp"
#include "transforms/device_state.hpp"
#include "transforms/field_chain.hpp"

#include <algorithm>

namespace warpalign {

namespace {

constexpr const char* warp_by_field_stage = "warp_by_field";
// The kernel moves points that are farther away to this distance.
constexpr std::int64_t max_side_of_image = std::int64_t{1} << 29U;

InterpolateSpec checked_for_field(const InterpolateSpec& spec) {
  if (!WarpByFieldPlan::serves(spec)) {
    detail::refuse(
        warp_by_field_stage,
        "requires degree 1 or 3, 2 or 3 dimensions, sides below 2^29, f32 coefficients and full "
        "precision");
  }
  static_cast<void>(InterpolatePlan::coefficient_shape(spec));  // checks the images
  detail::check_shapes(warp_by_field_stage, spec.images, spec.output);
  detail::check_cval(warp_by_field_stage, spec.spline.cval);
  return spec;
}

}  // namespace

bool WarpByFieldPlan::serves(const InterpolateSpec& spec) noexcept {
  const int degree = spec.spline.degree;
  const PixelType type = spec.output_type;
  const Shape& image = spec.images.shape;
  return std::max({image.width, image.height, image.depth}) < max_side_of_image &&
         (degree == 1 || degree == 3) && spec.images.dimensions > 1 &&
         spec.spline.precision == Precision::full && spec.coefficients == PixelType::f32 &&
         (type == PixelType::u8 || type == PixelType::u16 || type == PixelType::f16 ||
          type == PixelType::f32);
}

WarpByFieldPlan::WarpByFieldPlan(const Device& device, const InterpolateSpec& spec)
    : device_(device),
      spec_(checked_for_field(spec)),
      kernel_(detail::Access::driver(device).make(backend::WarpByField::Setup{
          spec_, detail::interpolation_details(spec_.spline.boundary, detail::margin_of(spec_))})) {
}

bool WarpByFieldPlan::supports(const DeviceTransform& transform) const {
  return kernel_ && detail::field_warp(transform.state_->steps, spec_.output, OutsideField::edge);
}

void WarpByFieldPlan::execute(Stream& stream, const Image& coefficients,
                              const DeviceTransform& transform, Image& output,
                              OutsideField outside) const {
  detail::check_stream(warp_by_field_stage, device_, stream);
  detail::check_same_device(warp_by_field_stage, "the transform", device_, transform.device());
  detail::check_image(warp_by_field_stage, "the coefficients", device_, coefficients,
                      spec_.coefficients, InterpolatePlan::coefficient_shape(spec_));
  detail::check_image(warp_by_field_stage, "the output", device_, output, spec_.output_type,
                      stacked(spec_.output, spec_.images.dimensions, spec_.images.count));
  detail::check_distinct(warp_by_field_stage, coefficients, output);
  if (transform.dimensions() != spec_.images.dimensions) {
    detail::refuse(warp_by_field_stage, "the transform and the images have different dimensions");
  }
  const auto warp = detail::field_warp(transform.state_->steps, spec_.output, outside);
  if (!kernel_ || !warp) {
    detail::refuse(warp_by_field_stage,
                   "the transform is not one displacement field between matrices");
  }
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(coefficients), *warp,
                   detail::Access::memory(output));
}

}  // namespace warpalign

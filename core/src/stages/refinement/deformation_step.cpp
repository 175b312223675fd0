// Stage: one step of the optimisation of a free-form deformation.
#include <warpalign/backend/stages/refinement/deformation_step.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* deformation_step_stage = "deformation_step";

DeformationStepSpec checked(const DeformationStepSpec& spec) {
  detail::check_shape(deformation_step_stage, "the grid", spec.grid, detail::max_side);
  return spec;
}

void check_factors(const DeformationStepFactors& factors) {
  for (const auto& each : {factors.force, factors.smoothness, factors.limit}) {
    for (const float factor : each) {
      if (!std::isfinite(factor) || factor < 0) {
        detail::refuse(deformation_step_stage,
                       "the factors of a step must be 0 or more, and finite");
      }
    }
  }
  if (!(factors.momentum >= 0) || !(factors.momentum < 1)) {
    detail::refuse(deformation_step_stage, "the momentum must be 0 to below 1");
  }
}

}  // namespace

DeformationStepPlan::DeformationStepPlan(const Device& device, const DeformationStepSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void DeformationStepPlan::execute(Stream& stream, const Image& forces, const Image& preconditioner,
                                  const DeformationStepFactors& factors, const Image& point,
                                  Image& coefficients, Image& next) const {
  detail::check_stream(deformation_step_stage, device_, stream);
  const Shape components = spec_.grids(spec_.dimensions());
  detail::check_image(deformation_step_stage, "the forces", device_, forces, PixelType::f32,
                      components);
  detail::check_image(deformation_step_stage, "the preconditioner", device_, preconditioner,
                      PixelType::f32, spec_.grids(spec_.entries()));
  detail::check_image(deformation_step_stage, "the point", device_, point, PixelType::f32,
                      components);
  detail::check_image(deformation_step_stage, "the coefficients", device_, coefficients,
                      PixelType::f32, components);
  detail::check_image(deformation_step_stage, "the next point", device_, next, PixelType::f32,
                      components);
  detail::check_distinct(deformation_step_stage, point, next);
  detail::check_distinct(deformation_step_stage, point, coefficients);
  detail::check_distinct(deformation_step_stage, coefficients, next);
  check_factors(factors);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(forces),
                   detail::Access::memory(preconditioner), factors, detail::Access::memory(point),
                   detail::Access::memory(coefficients), detail::Access::memory(next));
}

}  // namespace warpalign

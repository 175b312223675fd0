// Stage: displacements that cubic B-spline coefficients on a regular grid define.
#include <warpalign/backend/stages/refinement/deformation_grid.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <cmath>
#include <string>

namespace warpalign {

namespace {

constexpr const char* deformation_grid_stage = "deformation_grid";

void check_axis(const GridAxis& axis, std::int64_t voxels, std::int64_t controls) {
  if (!(axis.step > 0) || !(axis.step <= 1) || !(axis.first >= 1) || !(axis.spacing > 0) ||
      !std::isfinite(axis.spacing)) {
    detail::refuse(deformation_grid_stage,
                   "an axis needs a first index of 1 or more, a step above 0 and at most 1, "
                   "and a spacing above 0");
  }
  const double last = axis.first + axis.step * static_cast<double>(voxels - 1);
  if (controls < 4 || last > static_cast<double>(controls - 2) + 1e-6) {
    detail::refuse(deformation_grid_stage,
                   "the grid must have at least 4 control points along each axis, and one "
                   "beyond the last voxel");
  }
}

DeformationGridSpec checked(const DeformationGridSpec& spec) {
  detail::check_shape(deformation_grid_stage, "the reference", spec.voxels, detail::max_side);
  detail::check_shape(deformation_grid_stage, "the grid", spec.grid, detail::max_side);
  detail::check_shape(deformation_grid_stage, "the moving volume", spec.moving, detail::max_side);
  check_axis(spec.axes[0], spec.voxels.width, spec.grid.width);
  check_axis(spec.axes[1], spec.voxels.height, spec.grid.height);
  const bool flat = spec.grid.depth == 1;
  if (flat != (spec.voxels.depth == 1) || flat != (spec.moving.depth == 1)) {
    detail::refuse(deformation_grid_stage,
                   "the reference, the moving volume and the grid must all have depth 1, or "
                   "none of them");
  }
  if (!flat) check_axis(spec.axes[2], spec.voxels.depth, spec.grid.depth);
  return spec;
}

}  // namespace

DeformationGridPlan::DeformationGridPlan(const Device& device, const DeformationGridSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void DeformationGridPlan::execute_field(Stream& stream, const Image& coefficients,
                                        Image& field) const {
  detail::check_stream(deformation_grid_stage, device_, stream);
  const int count = spec_.dimensions();
  detail::check_image(deformation_grid_stage, "the coefficients", device_, coefficients,
                      PixelType::f32, spec_.grids(count));
  detail::check_image(deformation_grid_stage, "the field", device_, field, PixelType::f32,
                      spec_.volumes(count));
  detail::check_distinct(deformation_grid_stage, coefficients, field);
  kernel_->enqueue_field(detail::Access::queue(stream), detail::Access::memory(coefficients),
                         detail::Access::memory(field));
}

void DeformationGridPlan::execute_warp(Stream& stream, const Image& coefficients,
                                       const Image& moving, const Image& pose, Image& samples,
                                       const DeformationMasks* masks) const {
  detail::check_stream(deformation_grid_stage, device_, stream);
  detail::check_image(deformation_grid_stage, "the coefficients", device_, coefficients,
                      PixelType::f32, spec_.grids(spec_.dimensions()));
  detail::check_image(deformation_grid_stage, "the moving volume", device_, moving, PixelType::f32,
                      spec_.moving);
  detail::check_image(deformation_grid_stage, "the pose", device_, pose, PixelType::f32,
                      {15, 1, 1});
  detail::check_image(deformation_grid_stage, "the samples", device_, samples, PixelType::f32,
                      spec_.volumes(2));
  detail::check_distinct(deformation_grid_stage, coefficients, samples);
  detail::check_distinct(deformation_grid_stage, moving, samples);
  if (masks != nullptr) {
    detail::check_image(deformation_grid_stage, "the reference's mask", device_, masks->reference,
                        PixelType::f32, spec_.voxels);
    detail::check_image(deformation_grid_stage, "the moving mask", device_, masks->moving,
                        PixelType::f32, spec_.moving);
    detail::check_distinct(deformation_grid_stage, masks->reference, samples);
    detail::check_distinct(deformation_grid_stage, masks->moving, samples);
  }
  kernel_->enqueue_warp(detail::Access::queue(stream), detail::Access::memory(coefficients),
                        detail::Access::memory(moving), detail::Access::memory(pose),
                        masks != nullptr ? &detail::Access::memory(masks->reference) : nullptr,
                        masks != nullptr ? &detail::Access::memory(masks->moving) : nullptr,
                        detail::Access::memory(samples));
}

void DeformationGridPlan::execute_sums(Stream& stream, int planes, const Image& volumes,
                                       Image& sums) const {
  detail::check_stream(deformation_grid_stage, device_, stream);
  if (planes < 1 || planes > spec_.dimensions()) {
    detail::refuse(deformation_grid_stage,
                   "the number of arrays must be 1 to " + std::to_string(spec_.dimensions()));
  }
  detail::check_image(deformation_grid_stage, "the arrays", device_, volumes, PixelType::f32,
                      spec_.volumes(planes));
  detail::check_image(deformation_grid_stage, "the sums", device_, sums, PixelType::f32,
                      spec_.grids(planes));
  detail::check_distinct(deformation_grid_stage, volumes, sums);
  kernel_->enqueue_sums(detail::Access::queue(stream), planes, detail::Access::memory(volumes),
                        detail::Access::memory(sums));
}

void DeformationGridPlan::execute_determinants(Stream& stream, const Image& coefficients,
                                               Image& determinants) const {
  detail::check_stream(deformation_grid_stage, device_, stream);
  detail::check_image(deformation_grid_stage, "the coefficients", device_, coefficients,
                      PixelType::f32, spec_.grids(spec_.dimensions()));
  detail::check_image(deformation_grid_stage, "the determinants", device_, determinants,
                      PixelType::f32, spec_.voxels);
  detail::check_distinct(deformation_grid_stage, coefficients, determinants);
  kernel_->enqueue_determinants(detail::Access::queue(stream), detail::Access::memory(coefficients),
                                detail::Access::memory(determinants));
}

void DeformationGridPlan::execute_extremes(Stream& stream, const Image& determinants, float low,
                                           float high, Image& extremes) const {
  detail::check_stream(deformation_grid_stage, device_, stream);
  detail::check_image(deformation_grid_stage, "the determinants", device_, determinants,
                      PixelType::f32, spec_.voxels);
  detail::check_image(deformation_grid_stage, "the extremes", device_, extremes, PixelType::f32,
                      spec_.extremes());
  detail::check_distinct(deformation_grid_stage, determinants, extremes);
  kernel_->enqueue_extremes(detail::Access::queue(stream), detail::Access::memory(determinants),
                            low, high, detail::Access::memory(extremes));
}

void DeformationGridPlan::execute_marks(Stream& stream, const Image& determinants, float lowest,
                                        Image& marks) const {
  detail::check_stream(deformation_grid_stage, device_, stream);
  detail::check_image(deformation_grid_stage, "the determinants", device_, determinants,
                      PixelType::f32, spec_.voxels);
  detail::check_image(deformation_grid_stage, "the marks", device_, marks, PixelType::f32,
                      spec_.grid);
  detail::check_distinct(deformation_grid_stage, determinants, marks);
  kernel_->enqueue_marks(detail::Access::queue(stream), detail::Access::memory(determinants),
                         lowest, detail::Access::memory(marks));
}

}  // namespace warpalign

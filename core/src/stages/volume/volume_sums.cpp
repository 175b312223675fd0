// Stage: sums over the overlap of two shifted volumes.
#include <warpalign/backend/stages/volume/volume_sums.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/group_sums.hpp"
#include "stages/results.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign {

namespace {

constexpr const char* volume_sums_stage = "volume_sums";
// Larger than the sides of any volume, so that volumes do not overlap at larger shifts.
constexpr double max_shift = 1 << 20;

using Sides = std::array<std::int64_t, 3>;

Sides sides_of(const Shape& shape) { return {shape.width, shape.height, shape.depth}; }

VolumeSumsSpec checked(const VolumeSumsSpec& spec) {
  detail::check_shape(volume_sums_stage, "the reference", spec.reference, detail::max_side);
  detail::check_shape(volume_sums_stage, "the moving volume", spec.moving, detail::max_side);
  if (spec.reference_margin < 1)
    detail::refuse(volume_sums_stage, "the reference's margin must be at least 1");
  return spec;
}

// The box of reference voxels p, at least `margin` away from the faces, for which all voxels from
// p + shift - before to p + shift + after exist in the moving volume.
backend::VolumeBox box_of(const VolumeSumsSpec& spec, const VoxelShift& shift, std::int64_t margin,
                          std::int64_t before, std::int64_t after) {
  const Sides reference = sides_of(spec.reference);
  const Sides moving = sides_of(spec.moving);
  backend::VolumeBox box;
  box.shift = shift;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    box.first[axis] = std::max(margin, before - shift[axis]);
    const std::int64_t end = std::min(reference[axis] - margin, moving[axis] - after - shift[axis]);
    box.size[axis] = std::max<std::int64_t>(end - box.first[axis], 0);
  }
  return box;
}

double voxels_of(const backend::VolumeBox& box) {
  double n = 1;
  for (const std::int64_t side : box.size) n *= static_cast<double>(side);
  return n;
}

// Sets the five moments from the sums number `i` to `i + 4`.
template <class Sum>
void set_moments(VolumeMoments& moments, std::size_t i, const Sum& sum) {
  for (double* value : {&moments.reference, &moments.moving, &moments.reference_square,
                        &moments.moving_square, &moments.product}) {
    *value = sum(i++);
  }
}

}  // namespace

struct VolumeSumsPlan::Work {
  Work(const Device& device, std::size_t sums) : partials(device, sums) {}
  detail::Results<float> partials;
  std::array<VolumeMoments, max_shifts> moments{};
  // For each slot in use, the index of its shift. Only shifts with an overlap have a slot.
  std::array<std::size_t, max_shifts> filled{};
};

VolumeSumsPlan::VolumeSumsPlan(const Device& device, const VolumeSumsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      work_(std::make_shared<Work>(
          device, kernel_->groups() *
                      std::max<std::size_t>(
                          max_shifts * (backend::volume_moment_count + backend::added_count(spec)),
                          backend::volume_step_count + backend::added_count(spec)))) {}

void VolumeSumsPlan::check(const Stream& stream, const Image& reference,
                           const Image& moving) const {
  detail::check_stream(volume_sums_stage, device_, stream);
  detail::check_image(volume_sums_stage, "the reference", device_, reference, PixelType::f32,
                      spec_.reference);
  detail::check_image(volume_sums_stage, "the moving volume", device_, moving, PixelType::f32,
                      spec_.moving);
}

std::span<const VolumeMoments> VolumeSumsPlan::moments(Stream& stream, const Image& reference,
                                                       const Image& moving,
                                                       std::span<const VoxelShift> shifts) const& {
  check(stream, reference, moving);
  if (shifts.size() > max_shifts) {
    detail::refuse(volume_sums_stage, "a call supports at most " + std::to_string(max_shifts) +
                                          " shifts, not " + std::to_string(shifts.size()));
  }
  const std::span<VolumeMoments> found = std::span(work_->moments).first(shifts.size());
  std::size_t slots = 0;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    const backend::VolumeBox box = box_of(spec_, shifts[i], 0, 0, 0);
    found[i] = {};
    found[i].voxels = voxels_of(box);
    if (!(found[i].voxels > 0)) continue;
    kernel_->enqueue_moments(detail::Access::queue(stream), detail::Access::memory(reference),
                             detail::Access::memory(moving), box, slots, work_->partials.memory());
    work_->filled[slots++] = i;
  }
  if (slots == 0) return found;
  const std::size_t count = backend::volume_moment_count + backend::added_count(spec_);
  const auto partials = work_->partials.fetch(stream, slots * count * kernel_->groups());
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const auto sum = [&](std::size_t i) {
      return detail::total_of_groups(partials, kernel_->groups(), slot * count + i);
    };
    VolumeMoments& moments = found[work_->filled[slot]];
    set_moments(moments, 0, sum);
    if (spec_.marked) moments.voxels = sum(backend::volume_moment_count);
  }
  return found;
}

VolumeStepSums VolumeSumsPlan::step(Stream& stream, const Image& reference, const Image& moving,
                                    const std::array<double, 3>& shift) const {
  check(stream, reference, moving);
  VoxelShift cell{};
  std::array<float, 3> fraction{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!(std::abs(shift[axis]) <= max_shift)) {
      detail::refuse(volume_sums_stage,
                     "the components of the shift must be finite and at most 2^20");
    }
    cell[axis] = static_cast<std::int64_t>(std::floor(shift[axis]));
    fraction[axis] = static_cast<float>(shift[axis] - std::floor(shift[axis]));
  }
  const backend::VolumeBox box = box_of(spec_, cell, spec_.reference_margin, 1, 2);
  VolumeStepSums found;
  found.voxels = voxels_of(box);
  if (!(found.voxels > 0)) return found;
  kernel_->enqueue_step(detail::Access::queue(stream), detail::Access::memory(reference),
                        detail::Access::memory(moving), box, fraction, work_->partials.memory());
  const auto partials = work_->partials.fetch(
      stream, (backend::volume_step_count + backend::added_count(spec_)) * kernel_->groups());
  const auto sum = [&](std::size_t i) {
    return detail::total_of_groups(partials, kernel_->groups(), i);
  };
  std::size_t next = 0;
  for (double& value : found.slopes) value = sum(next++);
  for (auto* three : {&found.slope_reference, &found.slope_moving, &found.slope}) {
    for (double& value : *three) value = sum(next++);
  }
  set_moments(found, next, sum);
  if (spec_.marked) found.voxels = sum(backend::volume_step_count);
  return found;
}

}  // namespace warpalign

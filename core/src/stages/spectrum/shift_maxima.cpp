// Stage: the maxima of a correlation surface's scores, apart from the main one.
#include <warpalign/backend/stages/spectrum/shift_maxima.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/results.hpp"
#include "stages/spectrum/outline_edges.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace warpalign {

namespace {

constexpr const char* shift_maxima_stage = "shift_maxima";
constexpr int max_main_reach = 3;  // the kernel's work-group has a work-item for each of 7 x 7

ShiftMaximaSpec checked(const ShiftMaximaSpec& spec) {
  detail::check_shape(shift_maxima_stage, "the surface", spec.surface);
  if (spec.batch < 1) detail::refuse(shift_maxima_stage, "the batch must be 1 or more");
  return spec;
}

Shape surfaces_of(const ShiftMaximaSpec& spec) {
  return {spec.surface.width, spec.surface.height, 2 * spec.batch};
}

void check_reach(int reach, std::int64_t side) {
  if (reach < 0 || reach > side / 2) {
    detail::refuse(shift_maxima_stage, "the reach must be 0 to " + std::to_string(side / 2) +
                                           ", half of the surface's side");
  }
}

void check_region(const ShiftRegion& region, const Shape& surfaces) {
  if (region.slice < 0 || region.slice >= surfaces.depth) {
    detail::refuse(shift_maxima_stage,
                   "the slice must be 0 to " + std::to_string(surfaces.depth - 1));
  }
  check_reach(region.reach_x, surfaces.width);
  check_reach(region.reach_y, surfaces.height);
  if (region.main_reach < 0 || region.main_reach > max_main_reach) {
    detail::refuse(shift_maxima_stage, "main_reach must be 0 to " + std::to_string(max_main_reach));
  }
  if (!(region.min_overlap > 0) || !std::isfinite(region.min_overlap)) {
    detail::refuse(shift_maxima_stage, "min_overlap must be above 0");
  }
  if (!(region.ignored >= 0) || !(region.ring >= 0)) {
    detail::refuse(shift_maxima_stage,
                   "the ignored fraction and the ring's radius must be 0 or more");
  }
}

// The equivalent shift from 0 to n - 1.
int equivalent(int shift, std::int64_t n) {
  const auto side = static_cast<int>(n);
  return (shift % side + side) % side;
}

}  // namespace

ShiftMaximaPlan::ShiftMaximaPlan(const Device& device, const ShiftMaximaSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      parts_(std::make_shared<detail::Results<ShiftMaxima>>(device, backend::ShiftMaxima::parts)) {}

ShiftMaxima ShiftMaximaPlan::execute(Stream& stream, const Image& surfaces, const Image& overlaps,
                                     const ShiftRegion& region) const {
  check(stream, surfaces, region);
  detail::check_image(shift_maxima_stage, "the overlaps", device_, overlaps, PixelType::f32,
                      surfaces_of(spec_));
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(surfaces),
                   detail::Access::memory(overlaps), nullptr, wrapped(region), parts_->memory());
  return fetch(stream);
}

ShiftMaxima ShiftMaximaPlan::execute_outline(Stream& stream, const Image& surfaces,
                                             const CentredOutline& outline,
                                             const ShiftRegion& region) const {
  check(stream, surfaces, region);
  if (!std::isfinite(outline.centre_x) || !std::isfinite(outline.centre_y)) {
    detail::refuse(shift_maxima_stage, "the centre contains NaN or infinity");
  }
  const backend::CentredEdges edges{detail::edges_of(shift_maxima_stage, outline.outline),
                                    outline.centre_x, outline.centre_y};
  const backend::Memory& unread = detail::Access::memory(surfaces);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(surfaces), unread, &edges,
                   wrapped(region), parts_->memory());
  return fetch(stream);
}

void ShiftMaximaPlan::check(const Stream& stream, const Image& surfaces,
                            const ShiftRegion& region) const {
  detail::check_stream(shift_maxima_stage, device_, stream);
  detail::check_image(shift_maxima_stage, "the surfaces", device_, surfaces, PixelType::f32,
                      surfaces_of(spec_));
  check_region(region, surfaces_of(spec_));
}

ShiftRegion ShiftMaximaPlan::wrapped(const ShiftRegion& region) const {
  ShiftRegion result = region;
  result.origin_x = equivalent(region.origin_x, spec_.surface.width);
  result.origin_y = equivalent(region.origin_y, spec_.surface.height);
  return result;
}

ShiftMaxima ShiftMaximaPlan::fetch(Stream& stream) const {
  ShiftMaxima maxima;
  for (const ShiftMaxima& part : parts_->fetch(stream)) {
    maxima.main = std::max(maxima.main, part.main);
    maxima.other = std::max(maxima.other, part.other);
    maxima.ring = std::max(maxima.ring, part.ring);
  }
  return maxima;
}

}  // namespace warpalign

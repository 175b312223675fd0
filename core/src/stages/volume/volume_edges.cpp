// Stage: the strength of the edges in a volume.
#include <warpalign/backend/stages/volume/volume_edges.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* volume_edges_stage = "volume_edges";
// The limits of spacings. The squares of slopes are then far from the limits of single precision.
constexpr double min_spacing = 1e-6;
constexpr double max_spacing = 1e6;

VolumeEdgesSpec checked(const VolumeEdgesSpec& spec) {
  detail::check_shape(volume_edges_stage, "the volume", spec.shape, detail::max_side);
  for (const double spacing : {spec.spacing.x, spec.spacing.y, spec.spacing.z}) {
    if (!(spacing >= min_spacing && spacing <= max_spacing)) {
      detail::refuse(volume_edges_stage, "the spacing must be 1e-6 to 1e6 along each axis");
    }
  }
  return spec;
}

void check_curve(const EdgeCurve& curve) {
  if (!std::isfinite(curve.share) || curve.share < 0) {
    detail::refuse(volume_edges_stage, "the share must be 0 or more");
  }
  if (!std::isfinite(curve.epsilon) || !(curve.epsilon > 0)) {
    detail::refuse(volume_edges_stage, "epsilon must be above 0");
  }
}

}  // namespace

VolumeEdgesPlan::VolumeEdgesPlan(const Device& device, const VolumeEdgesSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void VolumeEdgesPlan::execute(Stream& stream, const Image& volume, const EdgeCurve& curve,
                              Image& edges) const {
  detail::check_stream(volume_edges_stage, device_, stream);
  detail::check_image(volume_edges_stage, "the volume", device_, volume, PixelType::f32,
                      spec_.shape);
  detail::check_image(volume_edges_stage, "the edges", device_, edges, PixelType::f32, spec_.shape);
  detail::check_distinct(volume_edges_stage, volume, edges);
  check_curve(curve);
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(volume), curve,
                   detail::Access::memory(edges));
}

}  // namespace warpalign

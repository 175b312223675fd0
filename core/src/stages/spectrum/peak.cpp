// Stage: the maximum of an image, with its coordinates and neighbours.
#include <warpalign/backend/stages/spectrum/peak.hpp>

#include "device/access.hpp"
#include "device/check.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign {

namespace {

constexpr const char* stage = "peak";
constexpr std::int64_t max_slices = 65535;

PeakSpec checked(const PeakSpec& spec) {
  detail::check_shape(stage, "the image", spec.shape, max_slices);
  return spec;
}

// The vertex of the parabola through (-1, before), (0, at), (1, after).
double parabola_vertex(double before, double at, double after) {
  const double curvature = before - 2 * at + after;
  if (!(curvature < 0)) return 0;  // flat, or not finite
  return std::clamp((before - after) / (2 * curvature), -0.5, 0.5);
}

}  // namespace

static_assert(sizeof(PeakRecord) == 48, "kernels write this layout");

PeakPlan::PeakPlan(const Device& device, const PeakSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void PeakPlan::execute(Stream& stream, const Image& input, Buffer& records) const {
  detail::check_stream(stage, device_, stream);
  detail::check_image(stage, "the input", device_, input, PixelType::f32, spec_.shape);
  detail::check_buffer(stage, "the records", device_, records,
                       static_cast<std::size_t>(spec_.shape.depth) * sizeof(PeakRecord));
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(records));
}

Point subpixel_position(const PeakRecord& peak) noexcept {
  const auto& n = peak.neighbours;
  return {peak.x + parabola_vertex(n[3], n[4], n[5]), peak.y + parabola_vertex(n[1], n[4], n[7])};
}

}  // namespace warpalign

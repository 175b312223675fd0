// Stage: the maximum of an image, with its coordinates and neighbours.
#include <warpalign/backend/stages/spectrum/peak.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/spectrum/parabola.hpp"

#include <cmath>

namespace warpalign {

namespace {

constexpr const char* peak_stage = "peak";
constexpr std::int64_t max_slices = 65535;

PeakSpec checked(const PeakSpec& spec) {
  detail::check_shape(peak_stage, "the image", spec.shape, max_slices);
  return spec;
}

}  // namespace

static_assert(sizeof(PeakRecord) == 48, "kernels write this layout");

PeakPlan::PeakPlan(const Device& device, const PeakSpec& spec)
    : device_(device), spec_(checked(spec)), kernel_(detail::Access::driver(device).make(spec)) {}

void PeakPlan::execute(Stream& stream, const Image& input, Buffer& records) const {
  detail::check_stream(peak_stage, device_, stream);
  detail::check_image(peak_stage, "the input", device_, input, PixelType::f32, spec_.shape);
  detail::check_buffer(peak_stage, "the records", device_, records,
                       static_cast<std::size_t>(spec_.shape.depth) * sizeof(PeakRecord));
  kernel_->enqueue(detail::Access::queue(stream), detail::Access::memory(input),
                   detail::Access::memory(records));
}

Point subpixel_position(const PeakRecord& peak) noexcept {
  const auto& n = peak.neighbours;
  return {peak.x + detail::parabola_vertex(n[3], n[4], n[5]),
          peak.y + detail::parabola_vertex(n[1], n[4], n[7])};
}

}  // namespace warpalign

// Stage: the maxima of a correlation surface's scores, apart from the main one.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/spectrum/shift_maxima.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "shift_maxima";

static_assert(sizeof(ShiftMaxima) == 3 * sizeof(float), "the kernel writes three floats");

#define GROUP 64
#ifdef __CUDACC__
#include "shared/shift_maxima.cl"
#endif

class ShiftMaximaStage final : public backend::ShiftMaxima {
 public:
  ShiftMaximaStage(DeviceContext& context, const ShiftMaximaSpec& spec)
      : width_(static_cast<int>(spec.surface.width)),
        height_(static_cast<int>(spec.surface.height)),
        find_(context, stage, WA_KERNEL_OF(shift_maxima, shift_maxima),
              KernelOptions().set("GROUP", GROUP)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& surfaces,
               const backend::Memory& overlaps, const backend::CentredEdges* outline,
               const ShiftRegion& region, backend::Memory& records) override {
    const backend::CentredEdges of = outline != nullptr ? *outline : backend::CentredEdges{};
    const auto& [half_width, half_height, first, second] = of.edges;
    find_.launch(queue, {parts, 1, {GROUP}}, surfaces, overlaps, region.slice, width_, height_,
                 outline != nullptr ? 1 : 0, half_width, half_height, first.x, first.y, second.x,
                 second.y, of.centre_x, of.centre_y, region.origin_x, region.origin_y,
                 region.reach_x, region.reach_y, region.main_reach, region.min_overlap,
                 region.ignored, region.ring, parts, records);
  }

 private:
  int width_, height_;
  WA_LAUNCHER_OF(shift_maxima) find_;
};

}  // namespace

template <>
std::unique_ptr<backend::ShiftMaxima> make(DeviceContext& context, const ShiftMaximaSpec& spec) {
  return std::make_unique<ShiftMaximaStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

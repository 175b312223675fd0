// Stage: views of an image that simulate a tilt of the camera (ASIFT).
#include "device/common_stage.hpp"
#include "features/plane_groups.hpp"

#include <warpalign/backend/stages/features/simulated_views.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "simulated_views";

#ifdef __CUDACC__
#include "shared/simulated_views.cl"
#endif

class SimulatedViewsStage final : public backend::SimulatedViews {
 public:
  SimulatedViewsStage(DeviceContext& context, const SimulatedViewsSpec& spec)
      : width_(extent(spec.image.width, site_of(context, stage))),
        height_(extent(spec.image.height, site_of(context, stage))),
        grid_(PlaneGroups(context).over_forms(backend::shapes_of(spec))),
        simulate_(context, stage, WA_KERNEL_FORMS(simulated_views, simulated_views),
                  PlaneGroups(context).options()) {}

  void enqueue(backend::Queue& queue, const backend::Memory& image, const backend::Memory& planes,
               const backend::Memory& maps, backend::Memory& views) override {
    simulate_.launch(queue, grid_, image, width_, height_, planes, maps, views);
  }

 private:
  int width_, height_;
  WorkGrid grid_;
  WA_LAUNCHER_OF(simulated_views) simulate_;
};

}  // namespace

template <>
std::unique_ptr<backend::SimulatedViews> make(DeviceContext& context,
                                              const SimulatedViewsSpec& spec) {
  return std::make_unique<SimulatedViewsStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

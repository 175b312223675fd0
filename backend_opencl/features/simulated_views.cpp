// Stage: an image as many planes that are seen from aside would show it.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "features/plane_groups.hpp"

#include <warpalign/backend/stages/features/simulated_views.hpp>

#include <vector>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "simulated_views";

class SimulatedViews final : public backend::SimulatedViews {
 public:
  SimulatedViews(Context& context, const SimulatedViewsSpec& spec)
      : groups_(context),
        width_(extent(spec.image.width, context.call_site(stage))),
        height_(extent(spec.image.height, context.call_site(stage))),
        grid_(context.has_vectors() ? over_rows(backend::shapes_of(spec))
                                    : groups_.over(backend::shapes_of(spec))),
        kernel_(context, stage,
                context.has_vectors() ? kernels::simulated_views_cpu : kernels::simulated_views,
                stage, context.has_vectors() ? "" : groups_.options()) {}

  void enqueue(backend::Queue& queue, const backend::Memory& image, const backend::Memory& planes,
               const backend::Memory& maps, backend::Memory& views) override {
    kernel_.launch(queue_of(queue), grid_, image, width_, height_, planes, maps, views);
  }

 private:
  PlaneGroups groups_;
  cl_int width_, height_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::SimulatedViews> make(Context& context, const SimulatedViewsSpec& spec) {
  return std::make_unique<SimulatedViews>(context, spec);
}

}  // namespace warpalign::opencl

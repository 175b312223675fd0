// Stage: an image as many planes that are seen from aside would show it.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "features/plane_groups.hpp"

#include "shared/kernel_language.h"

#include <warpalign/backend/stages/features/simulated_views.hpp>

#include <vector>

namespace warpalign::cuda {
namespace {

#define COLUMNS 32
#define ROWS 8
#include "shared/simulated_views.cl"
static_assert(COLUMNS == plane_columns && ROWS == plane_rows);

class SimulatedViewsStage final : public backend::SimulatedViews {
 public:
  SimulatedViewsStage(const Context& context, const SimulatedViewsSpec& spec)
      : site_{context, "simulated_views"},
        width_(extent(spec.image.width, site_)),
        height_(extent(spec.image.height, site_)),
        blocks_(blocks_over(backend::shapes_of(spec))) {
    load(&simulated_views, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& image, const backend::Memory& planes,
               const backend::Memory& maps, backend::Memory& views) override {
    launch_early(site_, queue, blocks_, dim3(COLUMNS, ROWS), &simulated_views, data<float>(image),
                 width_, height_, data<int>(planes), data<float>(maps), data<float>(views));
  }

 private:
  CallSite site_;
  int width_, height_;
  dim3 blocks_;
};

}  // namespace

template <>
std::unique_ptr<backend::SimulatedViews> make(const Context& context,
                                              const SimulatedViewsSpec& spec) {
  return std::make_unique<SimulatedViewsStage>(context, spec);
}

}  // namespace warpalign::cuda

// Stage: the cross-power spectra of many windows with those of a reference.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/spectrum.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/spectrum/window_cross_power.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::cuda {
namespace {

#define GROUP 256
#include "shared/window_cross_power.cl"

class WindowCrossPowerStage final : public backend::WindowCrossPower {
 public:
  WindowCrossPowerStage(const Context& context, const WindowCrossPowerSpec& spec)
      : site_{context, "window_cross_power"},
        windows_(static_cast<int>(spec.windows)),
        width_(extent(spec.window.width, site_)),
        columns_(extent(RealFftPlan::half_spectrum(spec.window).width, site_)),
        height_(extent(spec.window.height, site_)),
        groups_(static_cast<int>(divide_up(std::int64_t{columns_} * height_, GROUP))),
        blocks_(static_cast<unsigned>(groups_ * spec.windows * spec.frames)),
        falloff_(spec.sigma > 0 ? 1 / (2 * spec.sigma * spec.sigma) : 0) {
    load(&window_cross_power, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& reference,
               const backend::Memory& frames, backend::Memory& output) override {
    launch_early(site_, queue, dim3(blocks_), dim3(GROUP), &window_cross_power,
                 data<float>(reference), data<float>(frames), windows_, width_, columns_, height_,
                 groups_, falloff_, data<float>(output));
  }

 private:
  CallSite site_;
  int windows_, width_, columns_, height_, groups_;
  unsigned blocks_;
  float falloff_;
};

}  // namespace

template <>
std::unique_ptr<backend::WindowCrossPower> make(const Context& context,
                                                const WindowCrossPowerSpec& spec) {
  return std::make_unique<WindowCrossPowerStage>(context, spec);
}

}  // namespace warpalign::cuda

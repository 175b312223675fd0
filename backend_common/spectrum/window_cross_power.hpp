// Stage: the cross-power spectra of windows.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/spectrum/window_cross_power.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "window_cross_power";

#define ROWS_OF_VECTORS 16  // as in window_cross_power_cpu.cl
#define GROUP 256
#ifdef __CUDACC__
#include "shared/window_cross_power.cl"
#endif

class WindowCrossPowerStage final : public backend::WindowCrossPower {
 public:
  WindowCrossPowerStage(DeviceContext& context, const WindowCrossPowerSpec& spec)
      : windows_(extent(spec.windows, site_of(context, stage))),
        width_(extent(spec.window.width, site_of(context, stage))),
        columns_(extent(RealFftPlan::half_spectrum(spec.window).width, site_of(context, stage))),
        height_(extent(spec.window.height, site_of(context, stage))),
        group_(group_or_vector(context, group_of_at_most(context, GROUP))),
        groups_(extent(has_vectors(context) ? groups_over(height_, ROWS_OF_VECTORS)
                                            : groups_over(std::int64_t{columns_} * height_, group_),
                       site_of(context, stage))),
        grid_{groups_ * spec.windows * spec.frames, 1, {group_}},
        falloff_(spec.sigma > 0 ? 1 / (2 * spec.sigma * spec.sigma) : 0),
        whitened_(spec.whitened ? 1 : 0),
        multiply_(context, stage, WA_KERNEL_FORMS(window_cross_power, window_cross_power),
                  KernelOptions().set("GROUP", group_)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& reference,
               const backend::Memory& frames, backend::Memory& output) override {
    multiply_.launch(queue, grid_, reference, frames, windows_, width_, columns_, height_, groups_,
                     falloff_, whitened_, output);
  }

 private:
  int windows_, width_, columns_, height_, group_, groups_;
  WorkGrid grid_;
  float falloff_;
  int whitened_;
  WA_LAUNCHER_OF(window_cross_power) multiply_;
};

}  // namespace

template <>
std::unique_ptr<backend::WindowCrossPower> make(DeviceContext& context,
                                                const WindowCrossPowerSpec& spec) {
  return std::make_unique<WindowCrossPowerStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

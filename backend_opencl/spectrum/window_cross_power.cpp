// Stage: the cross-power spectra of many windows with those of a reference.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/spectrum/window_cross_power.hpp>
#include <warpalign/stages/fft.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "window_cross_power";

class WindowCrossPower final : public backend::WindowCrossPower {
 public:
  WindowCrossPower(Context& context, const WindowCrossPowerSpec& spec)
      : windows_(extent(spec.windows, context.call_site(stage))),
        width_(extent(spec.window.width, context.call_site(stage))),
        columns_(extent(RealFftPlan::half_spectrum(spec.window).width, context.call_site(stage))),
        height_(extent(spec.window.height, context.call_site(stage))),
        group_(reduction_group(context)),
        groups_(
            extent(divide_up(std::int64_t{columns_} * height_, static_cast<std::int64_t>(group_)),
                   context.call_site(stage))),
        items_(group_ * static_cast<std::size_t>(groups_) *
               static_cast<std::size_t>(spec.windows * spec.frames)),
        falloff_(spec.sigma > 0 ? 1 / (2 * spec.sigma * spec.sigma) : 0),
        kernel_(context, stage, kernels::window_cross_power, "window_cross_power",
                int_option("GROUP", static_cast<int>(group_))) {}

  void enqueue(backend::Queue& queue, const backend::Memory& reference,
               const backend::Memory& frames, backend::Memory& output) override {
    kernel_.launch(queue_of(queue), {{items_, 1}, {group_, 1}}, reference, frames, windows_, width_,
                   columns_, height_, groups_, falloff_, output);
  }

 private:
  cl_int windows_, width_, columns_, height_;
  std::size_t group_;
  cl_int groups_;
  std::size_t items_;
  cl_float falloff_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::WindowCrossPower> make(Context& context,
                                                const WindowCrossPowerSpec& spec) {
  return std::make_unique<WindowCrossPower>(context, spec);
}

}  // namespace warpalign::opencl

// Stage: apodized windows of frames, all of one size.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"

#include "formulas/sobel.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/filter/cut_windows.hpp>

namespace warpalign::cuda {
namespace {

#define COLUMNS 32
#define ROWS 8
namespace pixels {
#include "shared/cut_windows.cl"
}  // namespace pixels
#define SIGNAL_GRADIENT
namespace gradient {
#include "shared/cut_windows.cl"
}  // namespace gradient

class CutWindowsStage final : public backend::CutWindows {
 public:
  CutWindowsStage(const Context& context, const CutWindowsSpec& spec)
      : site_{context, "cut_windows"},
        frame_width_(extent(spec.frame.width, site_)),
        frame_height_(extent(spec.frame.height, site_)),
        windows_(static_cast<int>(spec.origins.size())),
        width_(extent(spec.window.width, site_)),
        height_(extent(spec.window.height, site_)),
        padded_width_(extent(backend::slice_of(spec).width, site_)),
        padded_height_(extent(backend::slice_of(spec).height, site_)),
        parts_(backend::parts_of_window(spec.window.height)),
        sums_(site_, 2 * spec.origins.size() * static_cast<std::size_t>(spec.frames) *
                         static_cast<std::size_t>(parts_) * sizeof(float)),
        scratch_guard_(site_),
        sum_(spec.signal == Signal::gradient ? &gradient::sum_windows : &pixels::sum_windows),
        cut_(spec.signal == Signal::gradient ? &gradient::cut_windows : &pixels::cut_windows) {
    load(sum_, site_);
    load(cut_, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& frames, const backend::Memory& origins,
               const backend::Memory& weights, const WindowRange& range, backend::Memory& means,
               backend::Memory& windows) override {
    site_.context.activate();
    scratch_guard_.enter(queue);
    const int first = static_cast<int>(range.first);
    const dim3 grid(static_cast<unsigned>(range.count * parts_));
    launch_early(site_, queue, grid, dim3(COLUMNS, ROWS), sum_, data<float>(frames), frame_width_,
                 frame_height_, data<int>(origins), windows_, first, width_, height_, parts_,
                 sums_.as<float>());
    launch_early(site_, queue, grid, dim3(COLUMNS, ROWS), cut_, data<float>(frames), frame_width_,
                 frame_height_, data<int>(origins), windows_, first, width_, height_,
                 data<float>(weights), parts_, sums_.as<float>(), data<float>(means),
                 data<float>(windows), padded_width_, padded_height_, (padded_width_ - width_) / 2,
                 (padded_height_ - height_) / 2);
  }

 private:
  CallSite site_;
  int frame_width_, frame_height_, windows_, width_, height_, padded_width_, padded_height_, parts_;
  DeviceMemory sums_;
  ScratchGuard scratch_guard_;
  decltype(&pixels::sum_windows) sum_;
  decltype(&pixels::cut_windows) cut_;
};

}  // namespace

template <>
std::unique_ptr<backend::CutWindows> make(const Context& context, const CutWindowsSpec& spec) {
  return std::make_unique<CutWindowsStage>(context, spec);
}

}  // namespace warpalign::cuda

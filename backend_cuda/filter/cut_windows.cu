// Stage: apodized windows of frames, all of one size.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"

#include "shared/kernel_language.h"

#include <warpalign/backend/stages/filter/cut_windows.hpp>

namespace warpalign::cuda {
namespace {

#define COLUMNS 32
#define ROWS 8
#include "shared/cut_windows.cl"

class CutWindowsStage final : public backend::CutWindows {
 public:
  CutWindowsStage(const Context& context, const CutWindowsSpec& spec)
      : site_{context, "cut_windows"},
        frame_width_(extent(spec.frame.width, site_)),
        frame_height_(extent(spec.frame.height, site_)),
        windows_(static_cast<int>(spec.origins.size())),
        width_(extent(spec.window.width, site_)),
        height_(extent(spec.window.height, site_)),
        parts_(backend::parts_of_window(spec.window.height)),
        blocks_(spec.origins.size() * static_cast<std::size_t>(spec.frames) *
                static_cast<std::size_t>(parts_)),
        sums_(site_, 2 * blocks_ * sizeof(float)),
        scratch_guard_(site_) {
    load(&sum_windows, site_);
    load(&cut_windows, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& frames, const backend::Memory& origins,
               const backend::Memory& weights, backend::Memory& means,
               backend::Memory& windows) override {
    site_.context.activate();
    scratch_guard_.enter(queue);
    const dim3 grid(static_cast<unsigned>(blocks_));
    launch_early(site_, queue, grid, dim3(COLUMNS, ROWS), &sum_windows, data<float>(frames),
                 frame_width_, frame_height_, data<int>(origins), windows_, width_, height_, parts_,
                 sums_.as<float>());
    launch_early(site_, queue, grid, dim3(COLUMNS, ROWS), &cut_windows, data<float>(frames),
                 frame_width_, frame_height_, data<int>(origins), windows_, width_, height_,
                 data<float>(weights), parts_, sums_.as<float>(), data<float>(means),
                 data<float>(windows));
  }

 private:
  CallSite site_;
  int frame_width_, frame_height_, windows_, width_, height_, parts_;
  std::size_t blocks_;
  DeviceMemory sums_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::CutWindows> make(const Context& context, const CutWindowsSpec& spec) {
  return std::make_unique<CutWindowsStage>(context, spec);
}

}  // namespace warpalign::cuda

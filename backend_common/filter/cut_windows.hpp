// Stage: apodized windows of equal size, cut from frames.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "cut_windows";

#define COLUMNS 32
#define ROWS 8
#ifdef __CUDACC__
#include "formulas/sobel.h"
namespace of_pixels {
#include "shared/cut_windows.cl"
}
#define SIGNAL_GRADIENT
namespace of_gradients {
#include "shared/cut_windows.cl"
}
using of_pixels::cut_windows;
using of_pixels::sum_windows;
#endif

class CutWindowsStage final : public backend::CutWindows {
 public:
  CutWindowsStage(DeviceContext& context, const CutWindowsSpec& spec)
      : frame_width_(extent(spec.frame.width, site_of(context, stage))),
        frame_height_(extent(spec.frame.height, site_of(context, stage))),
        windows_(extent(static_cast<std::int64_t>(spec.origins.size()), site_of(context, stage))),
        width_(extent(spec.window.width, site_of(context, stage))),
        height_(extent(spec.window.height, site_of(context, stage))),
        padded_width_(extent(backend::slice_of(spec).width, site_of(context, stage))),
        padded_height_(extent(backend::slice_of(spec).height, site_of(context, stage))),
        parts_(backend::parts_of_window(spec.window.height)),
        group_(group_of_rows(context, COLUMNS, ROWS)),
        sums_(context, stage,
              2 * spec.origins.size() * static_cast<std::size_t>(spec.frames) *
                  static_cast<std::size_t>(parts_) * sizeof(float)),
        sum_(context, stage,
             WA_KERNEL_VARIANT(spec.signal == Signal::gradient, SIGNAL_GRADIENT, of_gradients,
                               of_pixels, cut_windows, sum_windows),
             options()),
        cut_(context, stage,
             WA_KERNEL_VARIANT(spec.signal == Signal::gradient, SIGNAL_GRADIENT, of_gradients,
                               of_pixels, cut_windows, cut_windows),
             options()) {}

  void enqueue(backend::Queue& queue, const backend::Memory& frames, const backend::Memory& origins,
               const backend::Memory& weights, const WindowRange& range, backend::Memory& means,
               backend::Memory& windows) override {
    const auto first = static_cast<int>(range.first);
    const WorkGrid grid{range.count * parts_, 1, group_};
    auto& sums = sums_.enter(queue);
    sum_.launch(queue, grid, frames, frame_width_, frame_height_, origins, windows_, first, width_,
                height_, parts_, sums);
    cut_.launch(queue, grid, frames, frame_width_, frame_height_, origins, windows_, first, width_,
                height_, weights, parts_, sums, means, windows, padded_width_, padded_height_,
                (padded_width_ - width_) / 2, (padded_height_ - height_) / 2);
  }

 private:
  [[nodiscard]] KernelOptions options() const {
    return KernelOptions().set("COLUMNS", COLUMNS).set("ROWS", group_.rows);
  }

  int frame_width_, frame_height_, windows_, width_, height_, padded_width_, padded_height_, parts_;
  WorkGroup group_;
  StageScratch sums_;
  WA_LAUNCHER_OF(sum_windows) sum_;
  WA_LAUNCHER_OF(cut_windows) cut_;
};

}  // namespace

template <>
std::unique_ptr<backend::CutWindows> make(DeviceContext& context, const CutWindowsSpec& spec) {
  return std::make_unique<CutWindowsStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

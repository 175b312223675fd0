// Stage: apodized windows of frames, all of one size.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/memory.hpp"
#include "device/queue.hpp"
#include "device/scratch_guard.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>

#include <algorithm>
#include <string>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "cut_windows";
constexpr std::size_t columns = 32;
constexpr std::size_t max_rows = 8;

class CutWindows final : public backend::CutWindows {
 public:
  CutWindows(Context& context, const CutWindowsSpec& spec)
      : frame_width_(extent(spec.frame.width, context.call_site(stage))),
        frame_height_(extent(spec.frame.height, context.call_site(stage))),
        windows_(extent(static_cast<std::int64_t>(spec.origins.size()), context.call_site(stage))),
        width_(extent(spec.window.width, context.call_site(stage))),
        height_(extent(spec.window.height, context.call_site(stage))),
        padded_width_(extent(backend::slice_of(spec).width, context.call_site(stage))),
        padded_height_(extent(backend::slice_of(spec).height, context.call_site(stage))),
        parts_(backend::parts_of_window(spec.window.height)),
        groups_(spec.origins.size() * static_cast<std::size_t>(spec.frames) *
                static_cast<std::size_t>(parts_)),
        rows_(std::clamp<std::size_t>(reduction_group(context) / columns, 1, max_rows)),
        sums_(make_buffer(context, 2 * groups_ * sizeof(cl_float), stage)),
        sum_(context, stage, kernels::cut_windows, "sum_windows", options(spec.signal)),
        cut_(context, stage, kernels::cut_windows, "cut_windows", options(spec.signal)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& frames, const backend::Memory& origins,
               const backend::Memory& weights, const WindowRange& range, backend::Memory& means,
               backend::Memory& windows) override {
    const cl_command_queue commands = queue_of(queue);
    scratch_guard_.enter(commands, stage);
    const auto first = static_cast<cl_int>(range.first);
    const auto groups = static_cast<std::size_t>(range.count * parts_);
    const Grid size{{groups * columns, rows_}, {columns, rows_}};
    sum_.launch(commands, size, frames, frame_width_, frame_height_, origins, windows_, first,
                width_, height_, parts_, sums_);
    cut_.launch(commands, size, frames, frame_width_, frame_height_, origins, windows_, first,
                width_, height_, weights, parts_, sums_, means, windows, padded_width_,
                padded_height_, (padded_width_ - width_) / 2, (padded_height_ - height_) / 2);
  }

 private:
  [[nodiscard]] std::string options(Signal signal) const {
    return int_option("COLUMNS", static_cast<int>(columns)) +
           int_option("ROWS", static_cast<int>(rows_)) +
           (signal == Signal::gradient ? " -D SIGNAL_GRADIENT" : "");
  }

  cl_int frame_width_, frame_height_, windows_, width_, height_, padded_width_, padded_height_,
      parts_;
  std::size_t groups_, rows_;
  Handle<cl_mem> sums_;
  Kernel sum_, cut_;
  ScratchGuard scratch_guard_;
};

}  // namespace

template <>
std::unique_ptr<backend::CutWindows> make(Context& context, const CutWindowsSpec& spec) {
  return std::make_unique<CutWindows>(context, spec);
}

}  // namespace warpalign::opencl

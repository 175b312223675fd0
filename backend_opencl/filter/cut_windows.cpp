// Stage: apodized windows of frames, all of one size.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/filter/cut_windows.hpp>

#include <algorithm>

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
        groups_(spec.origins.size() * static_cast<std::size_t>(spec.frames)),
        rows_(std::clamp<std::size_t>(reduction_group(context) / columns, 1, max_rows)),
        kernel_(context, stage, kernels::cut_windows, "cut_windows",
                int_option("COLUMNS", static_cast<int>(columns)) +
                    int_option("ROWS", static_cast<int>(rows_))) {}

  void enqueue(backend::Queue& queue, const backend::Memory& frames, const backend::Memory& origins,
               const backend::Memory& weights, backend::Memory& means,
               backend::Memory& windows) override {
    kernel_.launch(queue_of(queue), {{groups_ * columns, rows_}, {columns, rows_}}, frames,
                   frame_width_, frame_height_, origins, windows_, width_, height_, weights, means,
                   windows);
  }

 private:
  cl_int frame_width_, frame_height_, windows_, width_, height_;
  std::size_t groups_, rows_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::CutWindows> make(Context& context, const CutWindowsSpec& spec) {
  return std::make_unique<CutWindows>(context, spec);
}

}  // namespace warpalign::opencl

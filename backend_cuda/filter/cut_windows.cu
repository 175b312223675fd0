// Stage: apodized windows of frames, all of one size.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
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
        groups_(
            static_cast<unsigned>(spec.origins.size() * static_cast<std::size_t>(spec.frames))) {
    load(&cut_windows, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& frames, const backend::Memory& origins,
               const backend::Memory& weights, backend::Memory& means,
               backend::Memory& windows) override {
    launch_early(site_, queue, dim3(groups_), dim3(COLUMNS, ROWS), &cut_windows,
                 data<float>(frames), frame_width_, frame_height_, data<int>(origins), windows_,
                 width_, height_, data<float>(weights), data<float>(means), data<float>(windows));
  }

 private:
  CallSite site_;
  int frame_width_, frame_height_, windows_, width_, height_;
  unsigned groups_;
};

}  // namespace

template <>
std::unique_ptr<backend::CutWindows> make(const Context& context, const CutWindowsSpec& spec) {
  return std::make_unique<CutWindowsStage>(context, spec);
}

}  // namespace warpalign::cuda

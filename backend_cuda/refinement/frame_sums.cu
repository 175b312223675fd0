// Stage: the sums for one Gauss-Newton step on the similarity of each of many frames.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/frame_sums.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/refinement/frame_sums.hpp>

namespace warpalign::cuda {
namespace {

#define GROUP 64
#include "shared/frame_sums.cl"
static_assert(WA_FRAME_SUMS == backend::frame_sum_count);
static_assert(WA_FRAME_STATE_WORDS * sizeof(int) == sizeof(FrameState));

class FrameSumsStage final : public backend::FrameSums {
 public:
  FrameSumsStage(const Context& context, const FrameSumsSpec& spec)
      : site_{context, "frame_sums"},
        width_(extent(spec.frame.width, site_)),
        height_(extent(spec.frame.height, site_)),
        cells_(static_cast<int>(spec.cells)),
        blocks_(static_cast<unsigned>(spec.cells * spec.frames)) {
    load(&frame_sums, site_);
  }

  void enqueue(backend::Queue& queue, const backend::FrameSumsMemory& memory,
               backend::Memory& partials) override {
    launch_early(site_, queue, dim3(blocks_), dim3(GROUP), &frame_sums, data<float>(memory.frames),
                 data<float>(memory.reference), width_, height_, cells_, data<int>(memory.states),
                 data<float>(partials));
  }

 private:
  CallSite site_;
  int width_, height_, cells_;
  unsigned blocks_;
};

}  // namespace

template <>
std::unique_ptr<backend::FrameSums> make(const Context& context, const FrameSumsSpec& spec) {
  return std::make_unique<FrameSumsStage>(context, spec);
}

}  // namespace warpalign::cuda

// Stage: the sums for the Gauss-Newton fit of frames to a reference.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/refinement/frame_sums.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "frame_sums";

#define GROUP 64
#ifdef __CUDACC__
#include "shared/frame_sums.cl"
static_assert(WA_FRAME_SUMS == backend::frame_sum_count);
static_assert(WA_FRAME_STATE_WORDS * sizeof(int) == sizeof(FrameState));
#endif

class FrameSumsStage final : public backend::FrameSums {
 public:
  FrameSumsStage(DeviceContext& context, const FrameSumsSpec& spec)
      : width_(extent(spec.frame.width, site_of(context, stage))),
        height_(extent(spec.frame.height, site_of(context, stage))),
        cells_(extent(spec.cells, site_of(context, stage))),
        references_(extent(spec.references, site_of(context, stage))),
        grid_{spec.cells * spec.frames, 1, {group_or_vector(context, GROUP)}},
        sum_(context, stage, WA_KERNEL_FORMS(frame_sums, frame_sums),
             KernelOptions().set("GROUP", GROUP)) {}

  void enqueue(backend::Queue& queue, const backend::FrameSumsMemory& memory,
               backend::Memory& partials) override {
    sum_.launch(queue, grid_, memory.frames, memory.reference, width_, height_, cells_, references_,
                memory.states, partials);
  }

 private:
  int width_, height_, cells_, references_;
  WorkGrid grid_;
  WA_LAUNCHER_OF(frame_sums) sum_;
};

}  // namespace

template <>
std::unique_ptr<backend::FrameSums> make(DeviceContext& context, const FrameSumsSpec& spec) {
  return std::make_unique<FrameSumsStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

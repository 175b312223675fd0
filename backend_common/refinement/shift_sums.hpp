// Stage: the sums for the Gauss-Newton fit of the shifts of windows.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/refinement/shift_sums.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "shift_sums";

#define GROUP_OF_TOTALS 32
#define GROUP 64
#ifdef __CUDACC__
#include "shared/shift_sums.cl"
#undef GROUP
#define GROUP GROUP_OF_TOTALS
#define SUMS WA_SHIFT_SUMS
#include "shared/sum_of_parts.cl"
#undef GROUP
#define GROUP 64
static_assert(WA_SHIFT_SUMS == backend::shift_sum_count);
static_assert(STATE_WORDS * sizeof(int) == sizeof(ShiftState));
#endif

class ShiftSumsStage final : public backend::ShiftSums {
 public:
  ShiftSumsStage(DeviceContext& context, const ShiftSumsSpec& spec)
      : width_(extent(spec.frame.width, site_of(context, stage))),
        height_(extent(spec.frame.height, site_of(context, stage))),
        windows_(extent(spec.windows, site_of(context, stage))),
        parts_(spec.parts),
        together_(extent(spec.together, site_of(context, stage))),
        sums_{spec.windows * spec.frames / spec.together * parts_ * together_,
              1,
              {group_or_vector(context, GROUP)}},
        totals_{spec.windows * spec.frames / spec.together, 1, {GROUP_OF_TOTALS}},
        sum_(context, stage, WA_KERNEL_FORMS(shift_sums, shift_sums),
             KernelOptions().set("GROUP", GROUP)),
        add_up_(
            context, stage, WA_KERNEL_OF(sum_of_parts, sum_of_parts),
            KernelOptions().set("SUMS", backend::shift_sum_count).set("GROUP", GROUP_OF_TOTALS)) {}

  void enqueue(backend::Queue& queue, const backend::ShiftSumsMemory& memory,
               backend::Memory& partials, backend::Memory& totals) override {
    sum_.launch(queue, sums_, memory.frames, memory.reference, width_, height_, windows_,
                memory.frame_means, memory.reference_means, together_, memory.states, parts_,
                partials);
    add_up_.launch(queue, totals_, partials, parts_ * together_, totals);
  }

 private:
  int width_, height_, windows_, parts_, together_;
  WorkGrid sums_, totals_;
  WA_LAUNCHER_OF(shift_sums) sum_;
  WA_LAUNCHER_OF(sum_of_parts) add_up_;
};

}  // namespace

template <>
std::unique_ptr<backend::ShiftSums> make(DeviceContext& context, const ShiftSumsSpec& spec) {
  return std::make_unique<ShiftSumsStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

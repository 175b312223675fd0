// Stage: the sums for one Gauss-Newton step on the shift of each of many windows.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/shift_sums.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/refinement/shift_sums.hpp>

namespace warpalign::cuda {
namespace {

constexpr unsigned group = 64;
constexpr unsigned group_of_totals = 32;

#define GROUP 64
#include "shared/shift_sums.cl"
#undef GROUP
#define GROUP 32
#define SUMS WA_SHIFT_SUMS
#include "shared/sum_of_parts.cl"
#undef GROUP
static_assert(WA_SHIFT_SUMS == backend::shift_sum_count);
static_assert(STATE_WORDS * sizeof(int) == sizeof(ShiftState));

class ShiftSumsStage final : public backend::ShiftSums {
 public:
  ShiftSumsStage(const Context& context, const ShiftSumsSpec& spec)
      : site_{context, "shift_sums"},
        width_(extent(spec.frame.width, site_)),
        height_(extent(spec.frame.height, site_)),
        windows_(static_cast<int>(spec.windows)),
        parts_(spec.parts),
        together_(static_cast<int>(spec.together)),
        totals_(static_cast<unsigned>(spec.windows * spec.frames / spec.together)) {
    load(&shift_sums, site_);
    load(&sum_of_parts, site_);
  }

  void enqueue(backend::Queue& queue, const backend::ShiftSumsMemory& memory,
               backend::Memory& partials, backend::Memory& totals) override {
    const int parts = parts_ * together_;
    launch_early(site_, queue, dim3(totals_ * static_cast<unsigned>(parts)), dim3(group),
                 &shift_sums, data<float>(memory.frames), data<float>(memory.reference), width_,
                 height_, windows_, data<float>(memory.frame_means),
                 data<float>(memory.reference_means), together_, data<int>(memory.states), parts_,
                 data<float>(partials));
    launch_early(site_, queue, dim3(totals_), dim3(group_of_totals), &sum_of_parts,
                 data<float>(partials), parts, data<float>(totals));
  }

 private:
  CallSite site_;
  int width_, height_, windows_, parts_, together_;
  unsigned totals_;
};

}  // namespace

template <>
std::unique_ptr<backend::ShiftSums> make(const Context& context, const ShiftSumsSpec& spec) {
  return std::make_unique<ShiftSumsStage>(context, spec);
}

}  // namespace warpalign::cuda

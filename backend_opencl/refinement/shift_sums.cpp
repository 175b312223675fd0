// Stage: the sums for one Gauss-Newton step on the shift of each of many windows.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/refinement/shift_sums.hpp>

#include <string>
#include <utility>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "shift_sums";

// On CPUs with vectors a work-item does what a group does on GPUs.
std::size_t group_for(const Context& context) { return context.has_vectors() ? 1 : 64; }

std::string options_for(const Context& context) {
  if (context.has_vectors()) return {};
  return int_option("GROUP", static_cast<int>(group_for(context)));
}

constexpr std::size_t group_of_totals = 32;

std::string options_for_totals() {
  return int_option("SUMS", backend::shift_sum_count) +
         int_option("GROUP", static_cast<int>(group_of_totals));
}

class ShiftSums final : public backend::ShiftSums {
 public:
  ShiftSums(Context& context, const ShiftSumsSpec& spec)
      : width_(extent(spec.frame.width, context.call_site(stage))),
        height_(extent(spec.frame.height, context.call_site(stage))),
        windows_(extent(spec.windows, context.call_site(stage))),
        parts_(spec.parts),
        together_(extent(spec.together, context.call_site(stage))),
        group_(group_for(context)),
        items_(group_ * static_cast<std::size_t>(spec.windows * spec.frames) *
               static_cast<std::size_t>(spec.parts)),
        totals_(static_cast<std::size_t>(spec.windows * spec.frames / spec.together)),
        kernel_(context, stage,
                context.has_vectors() ? kernels::shift_sums_cpu : kernels::shift_sums, "shift_sums",
                options_for(context)),
        sum_(context, stage, kernels::sum_of_parts, "sum_of_parts", options_for_totals()) {}

  void enqueue(backend::Queue& queue, const backend::ShiftSumsMemory& memory,
               backend::Memory& partials, backend::Memory& totals) override {
    kernel_.launch(queue_of(queue), {{items_, 1}, {group_, 1}}, memory.frames, memory.reference,
                   width_, height_, windows_, memory.frame_means, memory.reference_means, together_,
                   memory.states, parts_, partials);
    sum_.launch(queue_of(queue), {{totals_ * group_of_totals, 1}, {group_of_totals, 1}},
                std::as_const(partials), parts_ * together_, totals);
  }

 private:
  cl_int width_, height_, windows_, parts_, together_;
  std::size_t group_, items_, totals_;
  Kernel kernel_, sum_;
};

}  // namespace

template <>
std::unique_ptr<backend::ShiftSums> make(Context& context, const ShiftSumsSpec& spec) {
  return std::make_unique<ShiftSums>(context, spec);
}

}  // namespace warpalign::opencl

// Stage: one step of many Gauss-Newton fits, whose state stays on the device.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/refinement/fit_step.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "fit_step";
constexpr std::size_t group = 128;

std::string options_for(const FitStepSpec& spec) {
  return int_option("GROUP", static_cast<int>(group)) + (spec.projective ? " -D PROJECTIVE" : "");
}

class FitStep final : public backend::FitStep {
 public:
  FitStep(Context& context, const FitStepSpec& spec)
      : kernel_(context, stage, kernels::fit_step, "fit_step", options_for(spec)) {}

  void enqueue(backend::Queue& queue, const backend::FitStepMemory& memory,
               const backend::Memory& partials, std::size_t fits) override {
    kernel_.launch(queue_of(queue), {{fits * group, 1}, {group, 1}}, memory.fits, memory.states,
                   partials);
  }

 private:
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::FitStep> make(Context& context, const FitStepSpec& spec) {
  return std::make_unique<FitStep>(context, spec);
}

}  // namespace warpalign::opencl

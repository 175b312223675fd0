// Stage: one step of many Gauss-Newton fits, whose state stays on the device.
#include "device/dependent_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "refinement/fused_fits.hpp"

#include "formulas/resident_fit.h"
#include "formulas/similarity.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/refinement/fit_step.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

namespace warpalign::cuda {
namespace {

#define GROUP 128
namespace of_similarities {
#include "shared/fit_step.cl"
}
#define PROJECTIVE
namespace of_homographies {
#include "shared/fit_step.cl"
}

static_assert(sizeof(WaFitRecord) == sizeof(FitRecord));
static_assert(sizeof(WaSumsState) == sizeof(ResidentState));

class FitStepStage final : public backend::FitStep {
 public:
  FitStepStage(const Context& context, const FitStepSpec& spec)
      : site_{context, "fit_step"},
        kernel_(spec.projective ? &of_homographies::fit_step : &of_similarities::fit_step),
        fused_fits_(site_, spec.projective) {
    load(kernel_, site_);
  }

  [[nodiscard]] bool supports_fused_fits(
      std::span<const backend::ResidentSums> sums) const noexcept override {
    return fused_fits_.serve(sums);
  }
  void enqueue_fused_fits(backend::Queue& queue, backend::Memory& records,
                          std::span<const backend::ResidentSums> sums, std::size_t fits,
                          int steps) override {
    fused_fits_.enqueue(queue, sums, records, fits, steps);
  }

  void enqueue(backend::Queue& queue, const backend::FitStepMemory& memory,
               const backend::Memory& partials, std::size_t fits) override {
    launch_dependent(site_, queue, dim3(static_cast<unsigned>(fits)), dim3(GROUP), kernel_,
                 data<WaFitRecord>(memory.fits), data<WaSumsState>(memory.states),
                 data<const float>(partials));
  }

 private:
  CallSite site_;
  void (*kernel_)(WaFitRecord*, WaSumsState*, const float*);
  FusedFits fused_fits_;
};

}  // namespace

template <>
std::unique_ptr<backend::FitStep> make(const Context& context, const FitStepSpec& spec) {
  return std::make_unique<FitStepStage>(context, spec);
}

}  // namespace warpalign::cuda

// Stage: one step of each of many Gauss-Newton fits that stay on the device.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

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
#undef PARAMETERS
#undef SUMS
#undef IS_PROJECTIVE
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
        kernel_(spec.projective ? &of_homographies::fit_step : &of_similarities::fit_step) {
    load(kernel_, site_);
  }

  void enqueue(backend::Queue& queue, const backend::FitStepMemory& memory,
               const backend::Memory& partials, std::size_t fits) override {
    launch_early(site_, queue, dim3(static_cast<unsigned>(fits)), dim3(GROUP), kernel_,
                 data<WaFitRecord>(memory.fits), data<WaSumsState>(memory.states),
                 data<const float>(partials));
  }

 private:
  CallSite site_;
  void (*kernel_)(WaFitRecord*, WaSumsState*, const float*);
};

}  // namespace

template <>
std::unique_ptr<backend::FitStep> make(const Context& context, const FitStepSpec& spec) {
  return std::make_unique<FitStepStage>(context, spec);
}

}  // namespace warpalign::cuda

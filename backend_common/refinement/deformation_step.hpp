// Stage: one step of the optimisation of a free-form deformation.
#include "device/common_stage.hpp"
#include "volume/extents.hpp"

#include <warpalign/backend/stages/refinement/deformation_step.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "deformation_step";

#define COLUMNS 64
#ifdef __CUDACC__
#include "shared/deformation_step.cl"
#endif

class DeformationStepStage final : public backend::DeformationStep {
 public:
  DeformationStepStage(DeviceContext& context, const DeformationStepSpec& spec)
      : grid_(extents_of(spec.grid, site_of(context, stage))),
        rows_{spec.grid.height * spec.grid.depth, 1, {row_group(context, COLUMNS)}},
        step_(context, stage, WA_KERNEL_OF(deformation_step, deformation_step),
              KernelOptions().set("COLUMNS", rows_.group.columns)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& forces,
               const backend::Memory& preconditioner, const DeformationStepFactors& factors,
               const backend::Memory& point, backend::Memory& coefficients,
               backend::Memory& next) override {
    const auto& f = factors.force;
    const auto& s = factors.smoothness;
    const auto& l = factors.limit;
    step_.launch(queue, rows_, forces, preconditioner, grid_.width, grid_.height, grid_.depth, f[0],
                 f[1], f[2], s[0], s[1], s[2], l[0], l[1], l[2], factors.momentum, point,
                 coefficients, next);
  }

 private:
  Extents grid_;
  WorkGrid rows_;
  WA_LAUNCHER_OF(deformation_step) step_;
};

}  // namespace

template <>
std::unique_ptr<backend::DeformationStep> make(DeviceContext& context,
                                               const DeformationStepSpec& spec) {
  return std::make_unique<DeformationStepStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

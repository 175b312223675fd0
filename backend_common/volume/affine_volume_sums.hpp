// Stage: the sums for the Gauss-Newton fit of an affine transform between volumes.
#include "device/common_stage.hpp"
#include "volume/extents.hpp"

#include <warpalign/backend/stages/volume/affine_volume_sums.hpp>

#include <algorithm>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "affine_volume_sums";

#define GROUP 64
#ifdef __CUDACC__
#include "formulas/affine_volume.h"
#include "formulas/volume.h"
namespace of_whole_volumes {
#include "shared/affine_volume_sums.cl"
}
#define MARKED
namespace of_marked_volumes {
#include "shared/affine_volume_sums.cl"
}
static_assert(WA_AFFINE_VOLUME_SUMS == backend::affine_volume_sum_count);
static_assert(WA_AFFINE_VOLUME_STATE_WORDS * sizeof(int) == sizeof(AffineVolumeState));
using of_whole_volumes::affine_volume_sums;
#endif

class AffineVolumeSumsStage final : public backend::AffineVolumeSums {
 public:
  AffineVolumeSumsStage(DeviceContext& context, const AffineVolumeSumsSpec& spec)
      : reference_(extents_of(spec.reference, site_of(context, stage))),
        moving_(extents_of(spec.moving, site_of(context, stage))),
        margin_(spec.margin),
        parts_(backend::affine_volume_parts(spec.reference, spec.max_states)),
        unit_(2.0F / static_cast<float>(
                         std::max({reference_.width, reference_.height, reference_.depth}))),
        group_{group_or_vector(context, GROUP)},
        sum_(context, stage,
             WA_KERNEL_VARIANT_FORMS(spec.marked, MARKED, of_marked_volumes, of_whole_volumes,
                                     affine_volume_sums, affine_volume_sums),
             KernelOptions().set("GROUP", GROUP)) {}

  [[nodiscard]] int parts() const noexcept override { return parts_; }

  void enqueue(backend::Queue& queue, const backend::AffineVolumeSumsMemory& memory,
               std::int64_t states, backend::Memory& partials) override {
    sum_.launch(queue, {states * parts_, 1, group_}, memory.reference, reference_.width,
                reference_.height, reference_.depth, margin_, memory.moving, moving_.width,
                moving_.height, moving_.depth, unit_, memory.states, parts_, partials);
  }

 private:
  Extents reference_, moving_;
  int margin_, parts_;
  float unit_;
  WorkGroup group_;
  WA_LAUNCHER_OF(affine_volume_sums) sum_;
};

}  // namespace

template <>
std::unique_ptr<backend::AffineVolumeSums> make(DeviceContext& context,
                                                const AffineVolumeSumsSpec& spec) {
  return std::make_unique<AffineVolumeSumsStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

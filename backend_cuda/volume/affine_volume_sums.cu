// Stage: the sums for one Gauss-Newton step on the affine transform between two volumes.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "volume/volume_grid.cuh"

#include "formulas/volume.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/volume/affine_volume_sums.hpp>

#include <algorithm>

namespace warpalign::cuda {
namespace {

#define GROUP 64
namespace of_whole_volumes {
#include "shared/affine_volume_sums.cl"
}
#define MARKED
namespace of_marked_volumes {
#include "shared/affine_volume_sums.cl"
}
static_assert(WA_AFFINE_VOLUME_SUMS == backend::affine_volume_sum_count);
static_assert(STATE_WORDS * sizeof(int) == sizeof(AffineVolumeState));

class AffineVolumeSumsStage final : public backend::AffineVolumeSums {
 public:
  AffineVolumeSumsStage(const Context& context, const AffineVolumeSumsSpec& spec)
      : site_{context, "affine_volume_sums"},
        reference_(sides_of(spec.reference, site_)),
        moving_(sides_of(spec.moving, site_)),
        margin_(spec.margin),
        parts_(backend::affine_volume_parts(spec.reference, spec.max_states)),
        unit_(2.0F / static_cast<float>(std::max({reference_.x, reference_.y, reference_.z}))),
        kernel_(spec.marked ? &of_marked_volumes::affine_volume_sums
                            : &of_whole_volumes::affine_volume_sums) {
    load(kernel_, site_);
  }

  [[nodiscard]] int parts() const noexcept override { return parts_; }

  void enqueue(backend::Queue& queue, const backend::AffineVolumeSumsMemory& memory,
               std::int64_t states, backend::Memory& partials) override {
    launch_early(site_, queue, dim3(static_cast<unsigned>(states * parts_)), dim3(GROUP), kernel_,
                 data<float>(memory.reference), reference_.x, reference_.y, reference_.z, margin_,
                 data<float>(memory.moving), moving_.x, moving_.y, moving_.z, unit_,
                 data<int>(memory.states), parts_, data<float>(partials));
  }

 private:
  CallSite site_;
  Triple reference_, moving_;
  int margin_;
  int parts_;
  float unit_;
  decltype(&of_whole_volumes::affine_volume_sums) kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::AffineVolumeSums> make(const Context& context,
                                                const AffineVolumeSumsSpec& spec) {
  return std::make_unique<AffineVolumeSumsStage>(context, spec);
}

}  // namespace warpalign::cuda

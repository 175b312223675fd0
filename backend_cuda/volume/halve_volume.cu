// Stage: a volume in which NaN marks voxels that do not count, at half the resolution.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "volume/volume_grid.cuh"

#include "formulas/marked_volume.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/volume/halve_volume.hpp>

namespace warpalign::cuda {
namespace {

#define COLUMNS 128
#include "shared/halve_volume.cl"

class HalveVolumeStage final : public backend::HalveVolume {
 public:
  HalveVolumeStage(const Context& context, const HalveVolumeSpec& spec)
      : site_{context, "halve_volume"},
        sides_(sides_of(spec.shape, site_)),
        halved_(sides_of(spec.output(), site_)),
        factors_{spec.halved[0] ? 2 : 1, spec.halved[1] ? 2 : 1, spec.halved[2] ? 2 : 1} {
    load(&halve_volume, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& volume,
               backend::Memory& halved) override {
    const auto rows = static_cast<unsigned>(halved_.y) * static_cast<unsigned>(halved_.z);
    launch_early(site_, queue, dim3(rows), dim3(COLUMNS), &halve_volume, data<float>(volume),
                 sides_.x, sides_.y, factors_.x, factors_.y, factors_.z, data<float>(halved),
                 halved_.x, halved_.y);
  }

 private:
  CallSite site_;
  Triple sides_, halved_;
  Triple factors_;
};

}  // namespace

template <>
std::unique_ptr<backend::HalveVolume> make(const Context& context, const HalveVolumeSpec& spec) {
  return std::make_unique<HalveVolumeStage>(context, spec);
}

}  // namespace warpalign::cuda

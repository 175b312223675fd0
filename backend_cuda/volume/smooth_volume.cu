// Stage: the smoothing of a volume in which NaN marks voxels that do not count.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "volume/volume_grid.cuh"

#include "formulas/marked_volume.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/volume/smooth_volume.hpp>

namespace warpalign::cuda {
namespace {

#define COLUMNS 128
#include "shared/smooth_volume.cl"

class SmoothVolumeStage final : public backend::SmoothVolume {
 public:
  SmoothVolumeStage(const Context& context, const SmoothVolumeSpec& spec)
      : site_{context, "smooth_volume"}, sides_(sides_of(spec.shape, site_)) {
    load(&smooth_volume, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& volume,
               backend::Memory& smoothed) override {
    const auto rows = static_cast<unsigned>(sides_.y) * static_cast<unsigned>(sides_.z);
    launch_early(site_, queue, dim3(rows), dim3(COLUMNS), &smooth_volume, data<float>(volume),
                 sides_.x, sides_.y, sides_.z, data<float>(smoothed));
  }

 private:
  CallSite site_;
  Triple sides_;
};

}  // namespace

template <>
std::unique_ptr<backend::SmoothVolume> make(const Context& context, const SmoothVolumeSpec& spec) {
  return std::make_unique<SmoothVolumeStage>(context, spec);
}

}  // namespace warpalign::cuda

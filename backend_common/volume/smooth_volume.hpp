// Stage: a marked volume, smoothed.
#include "device/common_stage.hpp"
#include "volume/extents.hpp"

#include <warpalign/backend/stages/volume/smooth_volume.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "smooth_volume";

#define COLUMNS 128
#ifdef __CUDACC__
#include "shared/smooth_volume.cl"
#endif

class SmoothVolumeStage final : public backend::SmoothVolume {
 public:
  SmoothVolumeStage(DeviceContext& context, const SmoothVolumeSpec& spec)
      : shape_(extents_of(spec.shape, site_of(context, stage))),
        rows_{spec.shape.height * spec.shape.depth, 1, {row_group(context, COLUMNS)}},
        smooth_(context, stage, WA_KERNEL_OF(smooth_volume, smooth_volume),
                KernelOptions().set("COLUMNS", rows_.group.columns)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& volume,
               backend::Memory& smoothed) override {
    smooth_.launch(queue, rows_, volume, shape_.width, shape_.height, shape_.depth, smoothed);
  }

 private:
  Extents shape_;
  WorkGrid rows_;
  WA_LAUNCHER_OF(smooth_volume) smooth_;
};

}  // namespace

template <>
std::unique_ptr<backend::SmoothVolume> make(DeviceContext& context, const SmoothVolumeSpec& spec) {
  return std::make_unique<SmoothVolumeStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

// Stage: a marked volume, smoothed and sampled at half the rate.
#include "device/common_stage.hpp"
#include "volume/extents.hpp"

#include <warpalign/backend/stages/volume/halve_volume.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "halve_volume";

#define COLUMNS 128
#ifdef __CUDACC__
#include "shared/halve_volume.cl"
#endif

class HalveVolumeStage final : public backend::HalveVolume {
 public:
  HalveVolumeStage(DeviceContext& context, const HalveVolumeSpec& spec)
      : input_(extents_of(spec.shape, site_of(context, stage))),
        output_(extents_of(spec.output(), site_of(context, stage))),
        across_(spec.halved[0] ? 2 : 1),
        down_(spec.halved[1] ? 2 : 1),
        deep_(spec.halved[2] ? 2 : 1),
        rows_{spec.output().height * spec.output().depth, 1, {row_group(context, COLUMNS)}},
        halve_(context, stage, WA_KERNEL_OF(halve_volume, halve_volume),
               KernelOptions().set("COLUMNS", rows_.group.columns)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& volume,
               backend::Memory& halved) override {
    halve_.launch(queue, rows_, volume, input_.width, input_.height, across_, down_, deep_, halved,
                  output_.width, output_.height);
  }

 private:
  Extents input_, output_;
  int across_, down_, deep_;  // the distance between samples along each axis, in voxels
  WorkGrid rows_;
  WA_LAUNCHER_OF(halve_volume) halve_;
};

}  // namespace

template <>
std::unique_ptr<backend::HalveVolume> make(DeviceContext& context, const HalveVolumeSpec& spec) {
  return std::make_unique<HalveVolumeStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

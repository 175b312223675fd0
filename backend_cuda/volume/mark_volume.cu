// Stage: a mask's voxels become NaN in a volume.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/marked_volume.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/volume/mark_volume.hpp>

namespace warpalign::cuda {
namespace {

#define GROUP 256
#define CHUNK 4
#define TYPE_U8 static_cast<int>(PixelType::u8)
#define TYPE_U16 static_cast<int>(PixelType::u16)
#include "shared/mark_volume.cl"

class MarkVolumeStage final : public backend::MarkVolume {
 public:
  MarkVolumeStage(const Context& context, const MarkVolumeSpec& spec)
      : site_{context, "mark_volume"}, spec_(spec) {
    load(&mark_volume, site_);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& voxels, const backend::Memory& mask,
               backend::Memory& marked) override {
    const auto groups = static_cast<unsigned>(divide_up(spec_.shape.pixels(), GROUP * CHUNK));
    launch_early(site_, queue, dim3(groups), dim3(GROUP), &mark_volume, data<unsigned char>(voxels),
                 static_cast<int>(spec_.type), data<unsigned char>(mask),
                 static_cast<unsigned long long>(spec_.shape.pixels()), data<float>(marked));
  }

 private:
  CallSite site_;
  MarkVolumeSpec spec_;
};

}  // namespace

template <>
std::unique_ptr<backend::MarkVolume> make(const Context& context, const MarkVolumeSpec& spec) {
  return std::make_unique<MarkVolumeStage>(context, spec);
}

}  // namespace warpalign::cuda

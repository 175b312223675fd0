// Stage: a volume that is combined with its mask.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/volume/mark_volume.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "mark_volume";

#define GROUP 256
#define CHUNK 4
#ifdef __CUDACC__
#define TYPE_U8 static_cast<int>(PixelType::u8)
#define TYPE_U16 static_cast<int>(PixelType::u16)
#include "shared/mark_volume.cl"
#endif

class MarkVolumeStage final : public backend::MarkVolume {
 public:
  MarkVolumeStage(DeviceContext& context, const MarkVolumeSpec& spec)
      : type_(static_cast<int>(spec.type)),
        voxels_(static_cast<std::uint64_t>(spec.shape.pixels())),
        group_(is_cpu(context) ? 1 : group_of_at_most(context, GROUP)),
        chunk_(is_cpu(context) ? 64 : CHUNK),
        groups_(groups_over(spec.shape.pixels(), std::int64_t{group_} * chunk_)),
        mark_(context, stage, WA_KERNEL_OF(mark_volume, mark_volume),
              KernelOptions()
                  .set("GROUP", group_)
                  .set("CHUNK", chunk_)
                  .set("TYPE_U8", static_cast<int>(PixelType::u8))
                  .set("TYPE_U16", static_cast<int>(PixelType::u16))) {}

  void enqueue(backend::Queue& queue, const backend::Memory& voxels, const backend::Memory& mask,
               backend::Memory& marked) override {
    mark_.launch(queue, {groups_, 1, {group_}}, voxels, type_, mask, voxels_, marked);
  }

 private:
  int type_;
  std::uint64_t voxels_;
  int group_, chunk_;
  std::int64_t groups_;
  WA_LAUNCHER_OF(mark_volume) mark_;
};

}  // namespace

template <>
std::unique_ptr<backend::MarkVolume> make(DeviceContext& context, const MarkVolumeSpec& spec) {
  return std::make_unique<MarkVolumeStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

// Stage: a mask's voxels become NaN in a volume.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/volume/mark_volume.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "mark_volume";

std::string options(std::size_t group, std::size_t chunk) {
  return int_option("GROUP", static_cast<int>(group)) +
         int_option("CHUNK", static_cast<int>(chunk)) +
         int_option("TYPE_U8", static_cast<int>(PixelType::u8)) +
         int_option("TYPE_U16", static_cast<int>(PixelType::u16));
}

class MarkVolume final : public backend::MarkVolume {
 public:
  MarkVolume(Context& context, const MarkVolumeSpec& spec)
      : type_(static_cast<cl_int>(spec.type)),
        voxels_(spec.shape.pixels()),
        group_(context.is_cpu() ? 1 : reduction_group(context)),
        chunk_(context.is_cpu() ? 64 : 4),
        kernel_(context, stage, kernels::mark_volume, "mark_volume", options(group_, chunk_)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& voxels, const backend::Memory& mask,
               backend::Memory& marked) override {
    const auto groups =
        static_cast<std::size_t>(divide_up(voxels_, static_cast<std::int64_t>(group_ * chunk_)));
    kernel_.launch(queue_of(queue), {{groups * group_, 1}, {group_, 1}}, voxels, type_, mask,
                   static_cast<cl_ulong>(voxels_), marked);
  }

 private:
  cl_int type_;
  std::int64_t voxels_;
  std::size_t group_, chunk_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::MarkVolume> make(Context& context, const MarkVolumeSpec& spec) {
  return std::make_unique<MarkVolume>(context, spec);
}

}  // namespace warpalign::opencl

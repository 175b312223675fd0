// Stage: a volume in which NaN marks voxels that do not count, at half the resolution.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "volume/volume_shape.hpp"

#include <warpalign/backend/stages/volume/halve_volume.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "halve_volume";

class HalveVolume final : public backend::HalveVolume {
 public:
  HalveVolume(Context& context, const HalveVolumeSpec& spec)
      : sides_(to_int4(spec.shape, context.call_site(stage))),
        halved_(to_int4(spec.output(), context.call_site(stage))),
        factors_{{spec.halved[0] ? 2 : 1, spec.halved[1] ? 2 : 1, spec.halved[2] ? 2 : 1, 0}},
        rows_(static_cast<std::size_t>(spec.output().height * spec.output().depth)),
        columns_(short_row_group(context)),
        kernel_(context, stage, kernels::halve_volume, "halve_volume",
                int_option("COLUMNS", static_cast<int>(columns_))) {}

  void enqueue(backend::Queue& queue, const backend::Memory& volume,
               backend::Memory& halved) override {
    kernel_.launch(queue_of(queue), {{rows_ * columns_, 1}, {columns_, 1}}, volume, sides_.s[0],
                   sides_.s[1], factors_.s[0], factors_.s[1], factors_.s[2], halved, halved_.s[0],
                   halved_.s[1]);
  }

 private:
  cl_int4 sides_, halved_, factors_;
  std::size_t rows_, columns_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::HalveVolume> make(Context& context, const HalveVolumeSpec& spec) {
  return std::make_unique<HalveVolume>(context, spec);
}

}  // namespace warpalign::opencl

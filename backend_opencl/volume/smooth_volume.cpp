// Stage: the smoothing of a volume in which NaN marks voxels that do not count.
#include "device/build_options.hpp"
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "volume/volume_shape.hpp"

#include <warpalign/backend/stages/volume/smooth_volume.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "smooth_volume";

class SmoothVolume final : public backend::SmoothVolume {
 public:
  SmoothVolume(Context& context, const SmoothVolumeSpec& spec)
      : sides_(to_int4(spec.shape, context.call_site(stage))),
        rows_(static_cast<std::size_t>(spec.shape.height * spec.shape.depth)),
        columns_(short_row_group(context)),
        kernel_(context, stage, kernels::smooth_volume, "smooth_volume",
                int_option("COLUMNS", static_cast<int>(columns_))) {}

  void enqueue(backend::Queue& queue, const backend::Memory& volume,
               backend::Memory& smoothed) override {
    kernel_.launch(queue_of(queue), {{rows_ * columns_, 1}, {columns_, 1}}, volume, sides_.s[0],
                   sides_.s[1], sides_.s[2], smoothed);
  }

 private:
  cl_int4 sides_;
  std::size_t rows_, columns_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::SmoothVolume> make(Context& context, const SmoothVolumeSpec& spec) {
  return std::make_unique<SmoothVolume>(context, spec);
}

}  // namespace warpalign::opencl

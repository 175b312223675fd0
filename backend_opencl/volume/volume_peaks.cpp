// Stage: the highest peaks of a volume.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "volume/volume_shape.hpp"

#include "lib/launch.h"

#include <warpalign/backend/stages/volume/volume_peaks.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "volume_peaks";

static_assert(sizeof(backend::BrickRecord) == 8, "the kernel writes two words");
static_assert(backend::brick == Shape{WA_BRICK_X, WA_BRICK_Y, WA_BRICK_Z});

class VolumePeaks final : public backend::VolumePeaks {
 public:
  VolumePeaks(Context& context, const VolumePeaksSpec& spec)
      : size_(to_int4(spec.surface, context.call_site(stage))),
        bricks_(to_int4(backend::bricks_of(spec.surface), context.call_site(stage))),
        grid_(patches(context, bricks_.s[0], std::int64_t{bricks_.s[1]} * bricks_.s[2])),
        kernel_(context, stage, kernels::volume_peaks, "volume_peaks") {}

  void enqueue(backend::Queue& queue, const backend::Memory& surface,
               const std::array<std::int64_t, 3>& reach, backend::Memory& records) override {
    kernel_.launch(queue_of(queue), grid_, surface, size_, to_int4(reach), bricks_, records);
  }

 private:
  cl_int4 size_, bricks_;
  Grid grid_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::VolumePeaks> make(Context& context, const VolumePeaksSpec& spec) {
  return std::make_unique<VolumePeaks>(context, spec);
}

}  // namespace warpalign::opencl

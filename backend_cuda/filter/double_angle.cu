// Stage: the double-angle representation of an image's gradient.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "formulas/double_angle.h"
#include "shared/kernel_language.h"

#include <warpalign/backend/stages/filter/double_angle.hpp>

namespace warpalign::cuda {
namespace {

#define COLUMNS 256
#include "shared/double_angle.cl"
static_assert(WA_DOUBLE_ANGLE_TERMS == backend::double_angle_terms);

class DoubleAngleStage final : public backend::DoubleAngle {
 public:
  DoubleAngleStage(const Context& context, const DoubleAngleSpec& spec)
      : site_{context, "double_angle"},
        width_(extent(spec.image.width, site_)),
        height_(extent(spec.image.height, site_)),
        epsilon_(spec.epsilon) {
    load(&double_angle, site_);
  }

  void enqueue(backend::Queue& queue, const backend::DoubleAngleMemory& memory,
               std::int64_t first_slice, std::int64_t slices) override {
    const dim3 grid(static_cast<unsigned>(height_), static_cast<unsigned>(slices));
    launch_early(site_, queue, grid, dim3(COLUMNS), &double_angle, data<float>(memory.input),
                 data<float>(memory.weight), width_, height_, static_cast<int>(first_slice),
                 epsilon_, data<float>(memory.terms), data<float>(memory.cosines),
                 data<float>(memory.sines));
  }

 private:
  CallSite site_;
  int width_;
  int height_;
  float epsilon_;
};

}  // namespace

template <>
std::unique_ptr<backend::DoubleAngle> make(const Context& context, const DoubleAngleSpec& spec) {
  return std::make_unique<DoubleAngleStage>(context, spec);
}

}  // namespace warpalign::cuda

// Stage: the double-angle representation of an image's gradient.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "shared/kernel_language.h"

#include <warpalign/backend/stages/filter/double_angle.hpp>

#include <cmath>

namespace warpalign::cuda {
namespace {

#define COLUMNS 256
#include "shared/double_angle.cl"

class DoubleAngleStage final : public backend::DoubleAngle {
 public:
  DoubleAngleStage(const Context& context, const DoubleAngleSpec& spec)
      : site_{context, "double_angle"},
        width_(extent(spec.image.width, site_)),
        height_(extent(spec.image.height, site_)),
        epsilon_(spec.epsilon) {
    load(&double_angle, site_);
  }

  void enqueue(backend::Queue& queue, const backend::DoubleAngleMemory& images,
               const DoubleAngleTerms& terms, std::int64_t slice) override {
    launch_early(site_, queue, dim3(static_cast<unsigned>(height_)), dim3(COLUMNS), &double_angle,
                 data<float>(images.input), data<float>(images.weight), width_, height_,
                 static_cast<int>(slice), epsilon_,
                 static_cast<float>(std::cos(2 * terms.rotation)),
                 static_cast<float>(std::sin(2 * terms.rotation)), static_cast<float>(terms.mean.x),
                 static_cast<float>(terms.mean.y), static_cast<float>(terms.gain),
                 data<float>(images.cosines), data<float>(images.sines));
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

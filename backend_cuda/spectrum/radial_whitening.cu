// Stage: radial whitening, which divides a log-polar spectrum by its radial profile.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "shared/kernel_language.h"

#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>

namespace warpalign::cuda {
namespace {

#define COLUMNS 8
#define ROWS 32
#include "shared/radial_whitening.cl"

class RadialWhiteningStage final : public backend::RadialWhitening {
 public:
  RadialWhiteningStage(const Context& context, const RadialWhiteningSpec& spec)
      : site_{context, "radial_whitening"},
        width_(extent(spec.image.width, site_)),
        height_(extent(spec.image.height, site_)) {
    load(&radial_whitening, site_);
  }

  void enqueue(backend::Queue& queue, backend::Memory& image) override {
    launch_early(site_, queue, dim3(static_cast<unsigned>(divide_up(width_, COLUMNS))),
                 dim3(COLUMNS, ROWS), &radial_whitening, data<float>(image), width_, height_);
  }

 private:
  CallSite site_;
  int width_;
  int height_;
};

}  // namespace

template <>
std::unique_ptr<backend::RadialWhitening> make(const Context& context,
                                               const RadialWhiteningSpec& spec) {
  return std::make_unique<RadialWhiteningStage>(context, spec);
}

}  // namespace warpalign::cuda

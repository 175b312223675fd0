// Stage: radial whitening, which divides a log-polar spectrum by its radial profile.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "radial_whitening";

#define COLUMNS 8
#define ROWS 32
#ifdef __CUDACC__
#include "shared/radial_whitening.cl"
#endif

class RadialWhiteningStage final : public backend::RadialWhitening {
 public:
  RadialWhiteningStage(DeviceContext& context, const RadialWhiteningSpec& spec)
      : width_(extent(spec.image.width, site_of(context, stage))),
        height_(extent(spec.image.height, site_of(context, stage))),
        grid_{groups_over(width_, COLUMNS), 1, group_of_rows(context, COLUMNS, ROWS)},
        whiten_(context, stage, WA_KERNEL_OF(radial_whitening, radial_whitening),
                KernelOptions().set("COLUMNS", COLUMNS).set("ROWS", grid_.group.rows)) {}

  void enqueue(backend::Queue& queue, backend::Memory& image) override {
    whiten_.launch(queue, grid_, image, width_, height_);
  }

 private:
  int width_, height_;
  WorkGrid grid_;
  WA_LAUNCHER_OF(radial_whitening) whiten_;
};

}  // namespace

template <>
std::unique_ptr<backend::RadialWhitening> make(DeviceContext& context,
                                               const RadialWhiteningSpec& spec) {
  return std::make_unique<RadialWhiteningStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

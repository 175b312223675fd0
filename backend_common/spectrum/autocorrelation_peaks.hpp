// Stage: the shifts at which an image resembles itself.
#include "device/common_stage.hpp"

#include <warpalign/backend/stages/spectrum/autocorrelation_peaks.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "autocorrelation_peaks";

#define GROUP 128
#ifdef __CUDACC__
#include "shared/autocorrelation_peaks.cl"
#endif

class AutocorrelationPeaksStage final : public backend::AutocorrelationPeaks {
 public:
  AutocorrelationPeaksStage(DeviceContext& context, const AutocorrelationPeaksSpec& spec)
      : columns_(extent(spec.surface.width, site_of(context, stage))),
        rows_(extent(spec.surface.height, site_of(context, stage))),
        width_(extent(spec.image.width, site_of(context, stage))),
        height_(extent(spec.image.height, site_of(context, stage))),
        grid_{(spec.image.height / 2 + 1) * spec.images, 1, {group_of_at_most(context, GROUP)}},
        find_(context, stage, WA_KERNEL_OF(autocorrelation_peaks, autocorrelation_peaks),
              KernelOptions().set("GROUP", grid_.group.columns)) {}

  void enqueue(backend::Queue& queue, const backend::Memory& surfaces,
               backend::Memory& peaks) override {
    find_.launch(queue, grid_, surfaces, columns_, rows_, width_, height_, peaks);
  }

 private:
  int columns_, rows_, width_, height_;
  WorkGrid grid_;
  WA_LAUNCHER_OF(autocorrelation_peaks) find_;
};

}  // namespace

template <>
std::unique_ptr<backend::AutocorrelationPeaks> make(DeviceContext& context,
                                                    const AutocorrelationPeaksSpec& spec) {
  return std::make_unique<AutocorrelationPeaksStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

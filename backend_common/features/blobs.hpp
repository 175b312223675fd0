// Stage: extrema of differences of Gaussians.
#include "device/common_stage.hpp"
#include "features/plane_groups.hpp"

#include "formulas/features.h"

#include <warpalign/backend/stages/features/blobs.hpp>

namespace warpalign::WA_BACKEND {
namespace {

constexpr const char* stage = "blobs";

#ifdef __CUDACC__
#include "shared/blobs.cl"
static_assert(WA_PLANE_WORDS == backend::packed_plane_words);
static_assert(sizeof(WaBlob) == sizeof(Blob));
#endif

class BlobsStage final : public backend::Blobs {
 public:
  BlobsStage(DeviceContext& context, const BlobsSpec& spec)
      : groups_(context),
        planes_(groups_.one_for_each(spec.planes.size())),
        pixels_of_planes_(groups_.over_forms(spec.planes, WA_ROWS_AN_ITEM)),
        pixels_(static_cast<int>(backend::packed_pixels(spec.planes))),
        images_(static_cast<int>(spec.images)),
        capacity_(static_cast<int>(spec.capacity)),
        least_contrast_(spec.least_contrast),
        deviate_(context, stage, WA_KERNEL_OF(blobs, deviations), groups_.options()),
        find_(context, stage, WA_KERNEL_FORMS(blobs, blobs), groups_.options()) {}

  void enqueue_deviations(backend::Queue& queue, const backend::Memory& octave,
                          const backend::Memory& planes,
                          backend::Memory& deviations_of_planes) override {
    deviate_.launch(queue, planes_, octave, planes, deviations_of_planes);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& octave, const backend::Memory& planes,
               const backend::Memory& deviations_of_planes, std::int32_t number,
               backend::Memory& count, backend::Memory& found) override {
    find_.launch(queue, pixels_of_planes_, octave, planes, deviations_of_planes, least_contrast_,
                 images_, pixels_, number, capacity_, count, found);
  }

 private:
  PlaneGroups groups_;
  WorkGrid planes_, pixels_of_planes_;
  int pixels_, images_, capacity_;
  float least_contrast_;
  WA_LAUNCHER_OF(deviations) deviate_;
  WA_LAUNCHER_OF(blobs) find_;
};

}  // namespace

template <>
std::unique_ptr<backend::Blobs> make(DeviceContext& context, const BlobsSpec& spec) {
  return std::make_unique<BlobsStage>(context, spec);
}

}  // namespace warpalign::WA_BACKEND

// Stage: extrema of differences of Gaussians.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "features/plane_groups.hpp"

#include "shared/kernel_language.h"

#include <warpalign/backend/packed_planes.hpp>
#include <warpalign/backend/stages/features/blobs.hpp>

namespace warpalign::cuda {
namespace {

#define COLUMNS 32
#define ROWS 8
#include "shared/blobs.cl"
static_assert(COLUMNS == plane_columns && ROWS == plane_rows);
static_assert(WA_PLANE_WORDS == backend::packed_plane_words);
static_assert(sizeof(WaBlob) == sizeof(Blob));

class BlobsStage final : public backend::Blobs {
 public:
  BlobsStage(const Context& context, const BlobsSpec& spec)
      : site_{context, "blobs"},
        planes_(static_cast<unsigned>(spec.planes.size())),
        blocks_(blocks_over(spec.planes, TILE_ROWS)),
        pixels_(static_cast<int>(backend::packed_pixels(spec.planes))),
        images_(static_cast<int>(spec.images)),
        capacity_(static_cast<int>(spec.capacity)),
        least_contrast_(spec.least_contrast) {
    load(&deviations, site_);
    load(&blobs, site_);
  }

  void enqueue_deviations(backend::Queue& queue, const backend::Memory& octave,
                          const backend::Memory& planes,
                          backend::Memory& deviations_of_planes) override {
    launch_early(site_, queue, dim3(planes_), dim3(COLUMNS, ROWS), &deviations, data<float>(octave),
                 data<int>(planes), data<float>(deviations_of_planes));
  }

  void enqueue(backend::Queue& queue, const backend::Memory& octave, const backend::Memory& planes,
               const backend::Memory& deviations_of_planes, std::int32_t number,
               backend::Memory& count, backend::Memory& found) override {
    launch_early(site_, queue, blocks_, dim3(COLUMNS, ROWS), &blobs, data<float>(octave),
                 data<int>(planes), data<float>(deviations_of_planes), least_contrast_, images_,
                 pixels_, static_cast<int>(number), capacity_, data<int>(count),
                 data<WaBlob>(found));
  }

 private:
  CallSite site_;
  unsigned planes_;
  dim3 blocks_;
  int pixels_, images_, capacity_;
  float least_contrast_;
};

}  // namespace

template <>
std::unique_ptr<backend::Blobs> make(const Context& context, const BlobsSpec& spec) {
  return std::make_unique<BlobsStage>(context, spec);
}

}  // namespace warpalign::cuda

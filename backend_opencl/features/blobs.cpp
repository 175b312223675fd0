// Stage: extrema of differences of Gaussians.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"
#include "features/plane_groups.hpp"

#include "formulas/features.h"

#include <warpalign/backend/packed_planes.hpp>
#include <warpalign/backend/stages/features/blobs.hpp>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "blobs";

class Blobs final : public backend::Blobs {
 public:
  Blobs(Context& context, const BlobsSpec& spec)
      : groups_(context),
        one_for_each_(groups_.one_for_each(spec.planes.size())),
        over_(context.has_vectors() ? over_rows(spec.planes)
                                    : groups_.over(spec.planes, WA_ROWS_AN_ITEM)),
        pixels_(static_cast<cl_int>(backend::packed_pixels(spec.planes))),
        images_(static_cast<cl_int>(spec.images)),
        capacity_(static_cast<cl_int>(spec.capacity)),
        least_contrast_(spec.least_contrast),
        deviations_(context, stage, kernels::blobs, "deviations", groups_.options()),
        blobs_(context, stage, context.has_vectors() ? kernels::blobs_cpu : kernels::blobs, stage,
               context.has_vectors() ? "" : groups_.options()) {}

  void enqueue_deviations(backend::Queue& queue, const backend::Memory& octave,
                          const backend::Memory& planes, backend::Memory& deviations) override {
    deviations_.launch(queue_of(queue), one_for_each_, octave, planes, deviations);
  }

  void enqueue(backend::Queue& queue, const backend::Memory& octave, const backend::Memory& planes,
               const backend::Memory& deviations, std::int32_t number, backend::Memory& count,
               backend::Memory& blobs) override {
    blobs_.launch(queue_of(queue), over_, octave, planes, deviations, least_contrast_, images_,
                  pixels_, static_cast<cl_int>(number), capacity_, count, blobs);
  }

 private:
  PlaneGroups groups_;
  Grid one_for_each_, over_;
  cl_int pixels_, images_, capacity_;
  cl_float least_contrast_;
  Kernel deviations_, blobs_;
};

}  // namespace

template <>
std::unique_ptr<backend::Blobs> make(Context& context, const BlobsSpec& spec) {
  return std::make_unique<Blobs>(context, spec);
}

}  // namespace warpalign::opencl

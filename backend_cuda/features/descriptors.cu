// Stage: histograms of the gradients about places of images.
#include "device/early_launch.cuh"
#include "device/memory.hpp"
#include "device/stage.hpp"

#include "shared/kernel_language.h"

#include <warpalign/backend/packed_planes.hpp>
#include <warpalign/backend/stages/features/descriptors.hpp>

namespace warpalign::cuda {
namespace {

#define GROUP 128
#include "shared/descriptors.cl"
static_assert(WA_PLANE_WORDS == backend::packed_plane_words);
static_assert(sizeof(WaFeaturePlace) == sizeof(FeaturePlace));
static_assert(DIMENSIONS == DescriptorsPlan::dimensions);
static_assert(MAX_DIRECTIONS == DescriptorsPlan::max_directions);
static_assert(NO_DIRECTION == DescriptorsPlan::no_direction);

class DescriptorsStage final : public backend::Descriptors {
 public:
  DescriptorsStage(const Context& context, const DescriptorsSpec& spec)
      : site_{context, "descriptors"},
        pixels_(static_cast<int>(backend::packed_pixels(spec.planes))) {
    load(&directions, site_);
    load(&descriptors, site_);
  }

  void enqueue_directions(backend::Queue& queue, const backend::Memory& octave,
                          const backend::Memory& planes, const backend::Memory& places,
                          const PlaceRange& range, backend::Memory& radians) override {
    launch_early(site_, queue, dim3(static_cast<unsigned>(range.count)), dim3(GROUP), &directions,
                 data<float>(octave), data<int>(planes), pixels_, data<WaFeaturePlace>(places),
                 static_cast<int>(range.first), data<float>(radians));
  }

  void enqueue_descriptors(backend::Queue& queue, const backend::Memory& octave,
                           const backend::Memory& planes, const backend::Memory& places,
                           const PlaceRange& range, backend::Memory& rows) override {
    launch_early(site_, queue, dim3(static_cast<unsigned>(range.count)), dim3(GROUP), &descriptors,
                 data<float>(octave), data<int>(planes), pixels_, data<WaFeaturePlace>(places),
                 static_cast<int>(range.first), data<float>(rows));
  }

 private:
  CallSite site_;
  int pixels_;
};

}  // namespace

template <>
std::unique_ptr<backend::Descriptors> make(const Context& context, const DescriptorsSpec& spec) {
  return std::make_unique<DescriptorsStage>(context, spec);
}

}  // namespace warpalign::cuda

// Stage: for each feature of one image, the most similar feature of another image.
#include "device/dependent_launch.cuh"
#include "device/errors.hpp"
#include "device/memory.hpp"
#include "device/stage.hpp"
#include "features/slice_products.cuh"

#include "shared/kernel_language.h"

#include <warpalign/backend/stages/features/descriptors.hpp>
#include <warpalign/backend/stages/features/feature_matches.hpp>

namespace warpalign::cuda {
namespace {

#define GROUP 64
#include "shared/feature_matches.cl"
static_assert(sizeof(WaNearest) == sizeof(NearestFeature));
static_assert(SLICE == backend::features_per_slice);
static_assert(DIMENSIONS == DescriptorsPlan::dimensions);

// The major number of the device's compute capability.
int capability_of(const CallSite& site) {
  int major = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, site.context.ordinal),
        "cudaDeviceGetAttribute", site);
  return major;
}

class FeatureMatchesStage final : public backend::FeatureMatches {
 public:
  FeatureMatchesStage(const Context& context, const FeatureMatchesSpec& spec)
      : site_{context, "feature_matches"},
        max_ratio_(spec.max_ratio),
        by_tensor_cores_(capability_of(site_) >= slice_products_capability) {
    if (by_tensor_cores_) {
      load(&best_of_slice_products, site_);
    } else {
      load(&best_of_slices, site_);
    }
    load(&nearest_features, site_);
  }

  void enqueue(backend::Queue& queue, const backend::DescribedFeatures& reference,
               const backend::DescribedFeatures& moving, const backend::Memory& moving_positions,
               float apart, backend::Memory& best, backend::Memory& nearest) override {
    const auto slices = static_cast<int>(backend::slices_of(moving.count));
    const auto tiles_over = [](std::int64_t count) {
      return static_cast<unsigned>(divide_up(count, TILE));
    };
    const dim3 tiles(tiles_over(moving.count), tiles_over(reference.count));
    launch_dependent(site_, queue, tiles,
                 by_tensor_cores_ ? dim3(slice_products::threads) : dim3(TILE_ITEMS, TILE_ITEMS),
                 by_tensor_cores_ ? &best_of_slice_products : &best_of_slices,
                 data<float>(reference.descriptors), static_cast<int>(reference.count),
                 data<float>(moving.descriptors), static_cast<int>(moving.count), slices,
                 data<WaNearest>(best));
    launch_dependent(site_, queue, dim3(static_cast<unsigned>(reference.count)), dim3(GROUP),
                 &nearest_features, data<float>(reference.descriptors),
                 data<float>(moving.descriptors), static_cast<int>(moving.count),
                 data<float>(moving_positions), apart, max_ratio_, slices, data<WaNearest>(best),
                 data<WaNearest>(nearest));
  }

 private:
  CallSite site_;
  float max_ratio_;
  bool by_tensor_cores_;
};

}  // namespace

template <>
std::unique_ptr<backend::FeatureMatches> make(const Context& context,
                                              const FeatureMatchesSpec& spec) {
  return std::make_unique<FeatureMatchesStage>(context, spec);
}

}  // namespace warpalign::cuda

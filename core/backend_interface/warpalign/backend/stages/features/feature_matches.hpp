// Stage: of each feature of one image, the feature of another one that resembles it most.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class FeatureMatches;
}

struct FeatureMatchesSpec {
  std::int64_t max_reference = 1;  ///< features of one image
  std::int64_t max_moving = 1;     ///< and of the other one
  float max_ratio = 0.85F;         ///< of the distance to that of the next best place
};

struct NearestFeature {
  std::int32_t index = -1;  ///< in the other image; -1: none stands out
  float ratio = 1;          ///< of the distance to that of the next best place
};

/// Matches by descriptors of length 1, as DescriptorsPlan writes them. The distance of two of them
/// with the inner product p is the root of 2 - 2 p, which is at least 1e-3. The best match counts
/// if its distance is less than max_ratio times that of the best one at any other place (Lowe
/// 2004), which is one that is at least as far away as the caller says; where there is none, one
/// with the product 0 stands for it. Among equals the first one is the best.
class WARPALIGN_API FeatureMatchesPlan {
 public:
  FeatureMatchesPlan(const Device& device, const FeatureMatchesSpec& spec);
  struct Features {
    const Buffer& descriptors;
    std::int64_t count;
  };
  /// `moving_places`: x and y of each moving feature, as floats. `apart`: how far away other places
  /// are. `nearest`: a NearestFeature for each feature of the reference.
  void execute(Stream& stream, const Features& reference, const Features& moving,
               const Buffer& moving_places, float apart, Buffer& nearest) const;

 private:
  Device device_;
  FeatureMatchesSpec spec_;
  std::shared_ptr<backend::FeatureMatches> kernel_;
  std::shared_ptr<Buffer> best_of_slices_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// Into how many slices of 64 features, the last of which may have fewer, so many are divided.
inline constexpr std::int64_t features_per_slice = 64;
[[nodiscard]] constexpr std::int64_t slices_of(std::int64_t features) noexcept {
  return (features + features_per_slice - 1) / features_per_slice;
}

struct DescribedFeatures {
  const Memory& descriptors;
  std::int64_t count;
};

class FeatureMatches : public Stage {
 public:
  using Setup = FeatureMatchesSpec;

  /// `best_of_slices` has room for a NearestFeature for each slice of the moving features and each
  /// feature of the reference: the largest product within the slice, and which feature has it.
  virtual void enqueue(Queue& queue, const DescribedFeatures& reference,
                       const DescribedFeatures& moving, const Memory& moving_places, float apart,
                       Memory& best_of_slices, Memory& nearest) = 0;
};

}  // namespace warpalign::backend

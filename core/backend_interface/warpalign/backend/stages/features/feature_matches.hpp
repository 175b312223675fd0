// Stage: the nearest neighbours of features of one image among the features of another.
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
  std::int64_t max_reference = 1;  ///< largest number of features of the reference
  std::int64_t max_moving = 1;     ///< largest number of features of the moving image
  float max_ratio = 0.85F;  ///< largest ratio of the distances of the best and second-best match
};

struct NearestFeature {
  std::int32_t index =
      -1;           ///< of the match in the moving image; -1: no match passes the ratio test
  float ratio = 1;  ///< distance of the best match divided by that of the second best
};

/// Matches features by descriptors of length 1 (DescriptorsPlan) with the ratio test (Lowe 2004).
/// The distance of two descriptors with the inner product p is sqrt(2 - 2 p), at least 1e-3. A
/// match passes if its distance is less than max_ratio times the distance of the second-best match,
/// which is the best one at a position at least `apart` away from the match. If there is no such
/// position, the second-best match has the inner product 0. Of equal matches, the first one is the
/// best.
class WARPALIGN_API FeatureMatchesPlan {
 public:
  FeatureMatchesPlan(const Device& device, const FeatureMatchesSpec& spec);
  struct Features {
    const Buffer& descriptors;
    std::int64_t count;
  };
  /// `moving_positions`: x and y of each moving feature, as floats. `apart`: smallest distance of
  /// the second-best match from the best one, in the unit of `moving_positions`. `nearest` receives
  /// a NearestFeature for each feature of the reference.
  void execute(Stream& stream, const Features& reference, const Features& moving,
               const Buffer& moving_positions, float apart, Buffer& nearest) const;

 private:
  Device device_;
  FeatureMatchesSpec spec_;
  std::shared_ptr<backend::FeatureMatches> kernel_;
  std::shared_ptr<Buffer> best_of_slices_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// Features are divided into slices of 64; the last slice may have fewer.
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
  /// feature of the reference: the largest inner product within the slice, and its feature.
  virtual void enqueue(Queue& queue, const DescribedFeatures& reference,
                       const DescribedFeatures& moving, const Memory& moving_positions, float apart,
                       Memory& best_of_slices, Memory& nearest) = 0;
};

}  // namespace warpalign::backend

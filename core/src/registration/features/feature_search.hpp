// Homographies from local features.
#pragma once

#include "registration/features/feature_finder.hpp"
#include "registration/features/feature_homographies.hpp"
#include "registration/pair/forked_worker.hpp"

#include <warpalign/backend/stages/features/feature_matches.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// How many pairs of views of two images are compared.
[[nodiscard]] double compared_views();

/// A plane that is seen from far aside in one image appears so stretched against the other that
/// windows do not find it. Local features of both images do, as they are and in simulated views.
class FeatureSearch {
 public:
  explicit FeatureSearch(const Device& device);
  FeatureSearch(const FeatureSearch&) = delete;
  FeatureSearch& operator=(const FeatureSearch&) = delete;

  /// Homographies from reference to moving pixels, the one that most features agree on first. Waits
  /// for the device. Valid until the next call.
  [[nodiscard]] std::span<const Homography> find(const PairContext& work);

 private:
  /// Sets reference_, and returns the moving image's.
  const ViewFeatures& find_features(const PairContext& work);
  void find_matches(const PairContext& work, const ViewFeatures& moving);

  Device device_;
  FeatureFinder finder_;
  /// Finds the features of the moving image.
  struct MovingFinder {
    explicit MovingFinder(const Device& device) : finder(device) {}
    FeatureFinder finder;
    ViewFeatures features;
  };
  std::optional<ForkedWorker<MovingFinder>> worker_;  // created when a pair first needs it
  ViewFeatures reference_, moving_;
  FeatureMatchesPlan matches_;
  Buffer moving_places_, nearest_;
  HomographySampling sampling_;
  std::optional<ParallelFor> parallel_for_;  // likewise
  // On the host.
  std::vector<float> coordinates_;
  std::vector<NearestFeature> nearest_on_host_;
  std::vector<FeatureMatch> found_;
};

}  // namespace warpalign::detail

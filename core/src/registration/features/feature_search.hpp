// Finds homographies from local features.
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

/// The number of pairs of views that a search compares.
[[nodiscard]] double num_view_pairs();

/// In a very oblique view a plane appears so compressed that template matching fails. Local
/// features still match, in the original images and in simulated views (ASIFT: Morel & Yu 2009).
class FeatureSearch {
 public:
  explicit FeatureSearch(const Device& device);
  FeatureSearch(const FeatureSearch&) = delete;
  FeatureSearch& operator=(const FeatureSearch&) = delete;

  /// Returns homographies from reference to moving pixels, the one with the most inliers first.
  /// Waits for the device. The result is valid until the next call.
  [[nodiscard]] std::span<const Homography> find(const PairContext& work);

 private:
  /// Sets reference_ and returns the features of the moving image.
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
  std::optional<ForkedWorker<MovingFinder>> worker_;  // created for the first pair that needs it
  ViewFeatures reference_, moving_;
  FeatureMatchesPlan matches_;
  Buffer moving_places_, nearest_;
  HomographySampling sampling_;
  std::optional<ParallelFor> parallel_for_;  // created for the first pair that needs it
  // Host copies.
  std::vector<float> coordinates_;
  std::vector<NearestFeature> nearest_on_host_;
  std::vector<FeatureMatch> found_;
};

}  // namespace warpalign::detail

// Homographies from local features.
#pragma once

#include "registration/similarity/feature_homographies.hpp"
#include "registration/similarity/pair_work.hpp"
#include "registration/similarity/view_features.hpp"

#include <warpalign/backend/stages/features/feature_matches.hpp>
#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <list>
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
  [[nodiscard]] std::span<const Homography> find(const PairWork& work);

 private:
  void find_features(const PairWork& work, ImagePyramid& image, ViewFeatures& features);
  ViewFeatureSearch& search_for(const Shape& level);
  void find_matches(const PairWork& work);

  Device device_;
  ScaleSpaceMemory memory_;
  std::list<ViewFeatureSearch> searches_;  // the latest used first; at most two
  ViewFeatures reference_, moving_;
  FeatureMatchesPlan matches_;
  Buffer moving_places_, nearest_;
  HomographySampling sampling_;
  // On the host.
  std::vector<float> coordinates_;
  std::vector<NearestFeature> nearest_on_host_;
  std::vector<FeatureMatch> found_;
};

}  // namespace warpalign::detail

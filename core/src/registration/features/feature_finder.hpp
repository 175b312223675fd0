// Finds the local features of images of any shapes.
#pragma once

#include "registration/features/view_features.hpp"
#include "registration/pair/context.hpp"

#include <warpalign/device.hpp>

#include <list>

namespace warpalign::detail {

class FeatureFinder {
 public:
  explicit FeatureFinder(const Device& device) : device_(device) {}
  FeatureFinder(const FeatureFinder&) = delete;
  FeatureFinder& operator=(const FeatureFinder&) = delete;

  /// The features of one of the pair's images, of which the descriptors may still be written when
  /// this returns.
  void find(const PairContext& work, ImagePyramid& image, ViewFeatures& features);

 private:
  ViewFeatureSearch& search_for(const Shape& level);

  Device device_;
  ScaleSpaceMemory memory_;
  std::list<ViewFeatureSearch> searches_;  // the latest used first; at most two
};

}  // namespace warpalign::detail

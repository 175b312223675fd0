// Finds the local features of images of any shape.
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

  /// Finds the features of one of the pair's images. The device may still be writing the
  /// descriptors when this returns.
  void find(const PairContext& work, ImagePyramid& image, ViewFeatures& features);

 private:
  ViewFeatureSearch& search_for(const Shape& level);

  Device device_;
  ScaleSpaceMemory memory_;
  std::list<ViewFeatureSearch> searches_;  // most recently used first; at most two
};

}  // namespace warpalign::detail

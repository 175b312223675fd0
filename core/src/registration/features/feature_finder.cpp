// Finds the local features of images of any shape.
#include "registration/features/feature_finder.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pyramid/image_pyramid.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// The larger side of the levels in which features are detected.
constexpr double features_side = 1024;

}  // namespace

// Both images mostly have the same shape.
ViewFeatureSearch& FeatureFinder::search_for(const Shape& level) {
  const auto known = std::find_if(searches_.begin(), searches_.end(),
                                  [&](const auto& search) { return search.image() == level; });
  if (known != searches_.end()) {
    searches_.splice(searches_.begin(), searches_, known);
  } else {
    if (searches_.size() == 2) searches_.pop_back();
    searches_.emplace_front(device_, level, memory_);
  }
  return searches_.front();
}

void FeatureFinder::find(const PairContext& work, ImagePyramid& image, ViewFeatures& features) {
  const double spacing = std::max(1.0, larger_side(image.shape()) / features_side);
  const PyramidLevel& level = image.level(work.stream, work.clock, {spacing});
  search_for(level.shape()).find(work.stream, level.values(), features, work.cancelled);
  for (Point& place : features.places) place = level.to_image()(place);
}

}  // namespace warpalign::detail

// Homographies from local features, and the pair as each of them relates it.
#include "registration/similarity/feature_search.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/similarity/host_copy.hpp"
#include "registration/similarity/rectified.hpp"
#include "registration/similarity/view_features.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// Of the larger side of the levels in which features are looked for.
constexpr double features_side = 1024;

GreyPlane plane_of(const PairWork& work, const PyramidLevel& level) {
  GreyPlane plane(level.shape().width, level.shape().height);
  copy_to_host(work.stream, level.values(), plane.values);
  return plane;
}

std::vector<LocalFeature> features_in(const PairWork& work, ImagePyramid& image) {
  const double spacing = std::max(1.0, larger_side(image.shape()) / features_side);
  const PyramidLevel& level = image.level(work.stream, work.clock, {spacing});
  std::vector<LocalFeature> features = features_of_views(plane_of(work, level));
  for (LocalFeature& feature : features) feature.place = level.to_image()(feature.place);
  return features;
}

}  // namespace

std::vector<Homography> FeatureSearch::find(const PairWork& work) const {
  const double reference_side = larger_side(work.reference.shape());
  const double moving_side = larger_side(work.moving.shape());
  return homographies_of(matches_of(features_in(work, work.reference),
                                    features_in(work, work.moving), reference_side, moving_side),
                         reference_side, moving_side);
}

std::optional<PairWork> FeatureSearch::in_frame(const PairWork& work, const Homography& to_moving) {
  const PyramidLevel& whole = work.moving.level(work.stream, work.clock, {1});
  std::vector<float> weights;
  if (whole.weight() != nullptr) copy_to_host(work.stream, *whole.weight(), weights);
  const Shape& shape = work.reference.shape();
  const Rectified image = rectified(plane_of(work, whole), weights, to_moving, shape);
  if (!is_registrable(image)) return std::nullopt;
  if (!brought_ || !brought_->matches(PixelType::f32, shape)) {
    brought_.reset();  // releases its memory first
    brought_.emplace(device_, PixelType::f32, shape);
  }
  const HostImage values{image.values.values.data(), PixelType::f32, shape.width, shape.height, 0};
  const HostImage mask{image.mask.data(), PixelType::u8, shape.width, shape.height, 0};
  brought_->take(work.stream, work.clock, values, &mask, "the moving image");
  return PairWork{work.stream, work.clock, work.reference, *brought_};
}

}  // namespace warpalign::detail

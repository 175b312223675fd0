// Homographies from local features.
#include "registration/similarity/feature_search.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/similarity/image_pyramid.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// Of the larger side of the levels in which features are looked for.
constexpr double features_side = 1024;

constexpr float max_ratio = 0.85F;
// In units of the larger side of an image.
constexpr double other_place = 0.02;

}  // namespace

double compared_views() {
  const auto views = static_cast<double>(count_of_views());
  return views * views;
}

FeatureSearch::FeatureSearch(const Device& device)
    : device_(device),
      matches_(device, {static_cast<std::int64_t>(max_view_features()),
                        static_cast<std::int64_t>(max_view_features()), max_ratio}),
      moving_places_(device.make_buffer(2 * max_view_features() * sizeof(float))),
      nearest_(device.make_buffer(max_view_features() * sizeof(NearestFeature))) {}

// Both images are mostly of one shape.
ViewFeatureSearch& FeatureSearch::search_for(const Shape& level) {
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

void FeatureSearch::find_features(const PairWork& work, ImagePyramid& image,
                                  ViewFeatures& features) {
  const double spacing = std::max(1.0, larger_side(image.shape()) / features_side);
  const PyramidLevel& level = image.level(work.stream, work.clock, {spacing});
  search_for(level.shape()).find(work.stream, level.values(), features, work.stop);
  for (Point& place : features.places) place = level.to_image()(place);
}

void FeatureSearch::find_matches(const PairWork& work) {
  found_.clear();
  if (reference_.places.empty() || moving_.places.empty()) return;
  coordinates_.clear();
  for (const Point& place : moving_.places) {
    coordinates_.push_back(static_cast<float>(place.x));
    coordinates_.push_back(static_cast<float>(place.y));
  }
  work.stream.upload(coordinates_.data(), coordinates_.size() * sizeof(float), moving_places_);
  const auto apart = static_cast<float>(other_place * larger_side(work.moving.shape()));
  matches_.execute(work.stream,
                   {*reference_.descriptors, static_cast<std::int64_t>(reference_.places.size())},
                   {*moving_.descriptors, static_cast<std::int64_t>(moving_.places.size())},
                   moving_places_, apart, nearest_);
  nearest_on_host_.resize(reference_.places.size());
  work.stream.download(nearest_, nearest_on_host_.data(),
                       nearest_on_host_.size() * sizeof(NearestFeature));
  for (std::size_t i = 0; i < nearest_on_host_.size(); ++i) {
    const NearestFeature& nearest = nearest_on_host_[i];
    if (nearest.index < 0) continue;
    found_.push_back({reference_.places[i], moving_.places[static_cast<std::size_t>(nearest.index)],
                      static_cast<double>(nearest.ratio)});
  }
}

std::span<const Homography> FeatureSearch::find(const PairWork& work) {
  find_features(work, work.reference, reference_);
  find_features(work, work.moving, moving_);
  if (work.is_stopped()) return {};
  const LargerSides sides{larger_side(work.reference.shape()), larger_side(work.moving.shape())};
  find_matches(work);
  keep_distinct(found_, sides);
  return sampling_.find(found_, sides);
}

}  // namespace warpalign::detail

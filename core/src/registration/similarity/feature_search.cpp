// Homographies from local features.
#include "registration/similarity/feature_search.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/similarity/feature_homographies.hpp"
#include "registration/similarity/image_pyramid.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

// Of the larger side of the levels in which features are looked for.
constexpr double features_side = 1024;

constexpr float max_ratio = 0.85F;
// In units of the larger side of an image.
constexpr double other_place = 0.02;

std::vector<float> coordinates_of(const std::vector<Point>& places) {
  std::vector<float> coordinates;
  for (const Point& place : places) {
    coordinates.push_back(static_cast<float>(place.x));
    coordinates.push_back(static_cast<float>(place.y));
  }
  return coordinates;
}

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

std::vector<FeatureMatch> FeatureSearch::matches(const PairWork& work) {
  if (reference_.places.empty() || moving_.places.empty()) return {};
  const std::vector<float> coordinates = coordinates_of(moving_.places);
  work.stream.upload(coordinates.data(), coordinates.size() * sizeof(float), moving_places_);
  const auto apart = static_cast<float>(other_place * larger_side(work.moving.shape()));
  matches_.execute(work.stream,
                   {*reference_.descriptors, static_cast<std::int64_t>(reference_.places.size())},
                   {*moving_.descriptors, static_cast<std::int64_t>(moving_.places.size())},
                   moving_places_, apart, nearest_);
  std::vector<NearestFeature> nearest(reference_.places.size());
  work.stream.download(nearest_, nearest.data(), nearest.size() * sizeof(NearestFeature));
  std::vector<FeatureMatch> found;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    if (nearest[i].index < 0) continue;
    found.push_back({reference_.places[i],
                     moving_.places[static_cast<std::size_t>(nearest[i].index)],
                     static_cast<double>(nearest[i].ratio)});
  }
  return found;
}

std::vector<Homography> FeatureSearch::find(const PairWork& work) {
  find_features(work, work.reference, reference_);
  find_features(work, work.moving, moving_);
  if (work.is_stopped()) return {};
  const double reference_side = larger_side(work.reference.shape());
  const double moving_side = larger_side(work.moving.shape());
  return homographies_of(distinct(matches(work), reference_side, moving_side), reference_side,
                         moving_side);
}

}  // namespace warpalign::detail

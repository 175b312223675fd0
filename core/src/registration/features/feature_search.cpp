// Finds homographies from local features.
#include "registration/features/feature_search.hpp"

#include "registration/numerics/plane_geometry.hpp"

#include <algorithm>

namespace warpalign::detail {

namespace {

constexpr float max_ratio = 0.85F;
// The number of additional threads that sample homographies.
constexpr std::size_t sampling_workers = 3;
// In units of the larger side of an image.
constexpr double distinct_distance = 0.02;

}  // namespace

double num_view_pairs() {
  const auto views = static_cast<double>(num_views());
  return views * views;
}

FeatureSearch::FeatureSearch(const Device& device)
    : device_(device),
      finder_(device),
      matches_(device, {static_cast<std::int64_t>(max_view_features()),
                        static_cast<std::int64_t>(max_view_features()), max_ratio}),
      moving_places_(device.make_buffer(2 * max_view_features() * sizeof(float))),
      nearest_(device.make_buffer(max_view_features() * sizeof(NearestFeature))) {}

const ViewFeatures& FeatureSearch::find_features(const PairContext& work) {
  const auto find_reference = [&] { finder_.find(work, work.reference, reference_); };
  if (work.threads != nullptr) {
    if (!worker_) worker_.emplace(device_, work.threads, device_);
    worker_->begin_pair(work);
    const auto find_moving = [](const PairContext& fork, MovingFinder& moving) {
      moving.finder.find(fork, fork.moving, moving.features);
      fork.stream.finish();
    };
    worker_->run(find_moving, find_reference);
    return worker_->state().features;
  }
  find_reference();
  finder_.find(work, work.moving, moving_);
  return moving_;
}

void FeatureSearch::find_matches(const PairContext& work, const ViewFeatures& moving) {
  found_.clear();
  if (reference_.places.empty() || moving.places.empty()) return;
  coordinates_.clear();
  for (const Point& place : moving.places) {
    coordinates_.push_back(static_cast<float>(place.x));
    coordinates_.push_back(static_cast<float>(place.y));
  }
  work.stream.upload(coordinates_.data(), coordinates_.size() * sizeof(float), moving_places_);
  const auto apart = static_cast<float>(distinct_distance * larger_side(work.moving.shape()));
  matches_.execute(work.stream,
                   {*reference_.descriptors, static_cast<std::int64_t>(reference_.places.size())},
                   {*moving.descriptors, static_cast<std::int64_t>(moving.places.size())},
                   moving_places_, apart, nearest_);
  nearest_on_host_.resize(reference_.places.size());
  work.stream.download(nearest_, nearest_on_host_.data(),
                       nearest_on_host_.size() * sizeof(NearestFeature));
  for (std::size_t i = 0; i < nearest_on_host_.size(); ++i) {
    const NearestFeature& nearest = nearest_on_host_[i];
    if (nearest.index < 0) continue;
    found_.push_back({reference_.places[i], moving.places[static_cast<std::size_t>(nearest.index)],
                      static_cast<double>(nearest.ratio)});
  }
}

std::span<const Homography> FeatureSearch::find(const PairContext& work) {
  const ViewFeatures& moving = find_features(work);
  if (work.is_cancelled()) return {};
  const LargerSides sides{larger_side(work.reference.shape()), larger_side(work.moving.shape())};
  find_matches(work, moving);
  keep_distinct(found_, sides);
  if (work.threads == nullptr) return sampling_.find(found_, sides);
  if (!parallel_for_) parallel_for_.emplace(work.threads, sampling_workers);
  return sampling_.find(found_, sides, &*parallel_for_);
}

}  // namespace warpalign::detail

// Searches for the motion of a scene behind a pattern that is fixed to the sensor.
#include "registration/scene/scene_search.hpp"

#include "registration/numerics/box_sum.hpp"
#include "registration/numerics/transform_distance.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

namespace {

// The larger side of the level on which a pattern is found. The mask of a pattern need not be
// finer.
constexpr double pattern_side = 512;

// The part of the votes up to which the scene is the larger part.
constexpr double max_sensor_part = 0.5;

// Fits to two halves of the pixels are independent, and the fit to all of them is off by about half
// their distance, which is not to be more than this, in pixels. Of 75 generated pairs below it, 3
// had a corner more than 0.1 pixels off; of 12 up to a third above it, 5.
constexpr double max_distance_of_halves = 0.15;
// The radii of the means that are subtracted, and how far apart two fits may be to agree, in pixels
// at the corners. Of 17 generated pairs that were accepted with a corner more than 0.1 pixels off,
// 15 had no fit within that; of 115 that were right, 7.
constexpr std::array<std::int64_t, 3> slow_radii{4, 2, 1};
constexpr double confirming_distance = 0.13;

InitialPose pose_of(const Candidate& candidate) {
  return {transform_of(candidate), candidate.matrix};
}

double distance_between(const Candidate& a, const Candidate& b, const Shape& images) {
  return corner_distance(transform_of(a), transform_of(b), images);
}

}  // namespace

std::optional<PairContext> SceneSearch::without_lines(const PairContext& context) {
  level_.take_whole(context);
  if (!level_.subtract_lines()) return std::nullopt;
  return remaining_.with_values(context, level_.values());
}

std::optional<Candidate> SceneSearch::in_changes(const PairContext& context, const Candidate& found,
                                                 const SearchAgain& search) {
  level_.take(context, pattern_side);
  const auto rest = remaining_.without(context, level_, level_.pattern().still_pattern());
  if (!rest) return std::nullopt;
  const std::span<const Candidate> result = search(*rest, nullptr);
  if (result.empty() || is_still(context, result.front())) return std::nullopt;
  const double apart = distance_between(result.front(), found, context.reference.shape());
  if (apart < still_distance) return std::nullopt;
  return result.front();
}

std::optional<Candidate> SceneSearch::behind_pattern(const PairContext& context,
                                                     const Candidate& start,
                                                     const SearchAgain& search) {
  level_.take(context, pattern_side);
  const InitialPose pose = pose_of(start);
  const Homography scene = level_.to_level(pose.transform);
  sensor_part_ = level_.pattern().votes(scene).sensor_part();
  const auto rest = remaining_.without(context, level_, level_.pattern().pattern(scene));
  const auto result = rest ? search(*rest, &pose) : std::span<const Candidate>{};
  if (result.empty()) return std::nullopt;
  Candidate found = result.front();
  found.proposed_by = start.proposed_by;
  return found;
}

std::optional<Candidate> SceneSearch::in_difference(const PairContext& context,
                                                    const SearchAgain& search) {
  level_.take(context, pattern_side);
  const auto shift = difference_.find(context.clock, level_.images(), level_.gain());
  if (!shift) return std::nullopt;
  std::optional<Candidate> scene;
  for (const double sign : {1.0, -1.0}) {
    Affine pose;
    pose.c = sign * (*shift)[0] * level_.to_image().a;
    pose.f = sign * (*shift)[1] * level_.to_image().e;
    const InitialPose near{Homography(pose), pose};
    const std::span<const Candidate> result = search(context, &near);
    if (result.empty() || is_still(context, result.front())) continue;
    if (!scene || result.front().correlation > scene->correlation) scene = result.front();
  }
  return scene;
}

// Whether the motions of two halves of what the pattern leaves agree at the corners. They do not if
// a half is too little to tell.
bool SceneSearch::do_halves_agree(const PairContext& context, const Candidate& found,
                                  const SearchAgain& search) {
  const InitialPose pose = pose_of(found);
  std::array<Homography, 2> transforms;
  for (const int which : {0, 1}) {
    const auto rest = remaining_.half(context, which);
    const auto result = rest ? search(*rest, &pose) : std::span<const Candidate>{};
    if (result.empty()) return false;
    transforms[static_cast<std::size_t>(which)] = transform_of(result.front());
  }
  return corner_distance(transforms[0], transforms[1], context.reference.shape()) <=
         max_distance_of_halves;
}

bool SceneSearch::is_clear(const PairContext& context, const Candidate& scene,
                           const SearchAgain& search) {
  return sensor_part_ <= max_sensor_part && do_halves_agree(context, scene, search);
}

bool SceneSearch::is_determined(const PairContext& context, const Candidate& scene,
                                const SearchAgain& search) {
  remaining_.include_all(context);
  return do_halves_agree(context, scene, search);
}

bool SceneSearch::is_confirmed(const PairContext& context, const Candidate& answer,
                               const SearchAgain& search) {
  const Shape& shape = context.reference.shape();
  level_.take_whole(context);
  level_.subtract_lines();
  const InitialPose pose = pose_of(answer);
  return std::any_of(slow_radii.begin(), slow_radii.end(), [&](std::int64_t radius) {
    fine_ = level_.values();
    for (std::vector<float>* values : {&fine_.reference, &fine_.moving}) {
      subtract_local_mean(*values, shape.width, shape.height, radius);
    }
    const auto rest = remaining_.with_values(context, fine_);
    const auto result = rest ? search(*rest, &pose) : std::span<const Candidate>{};
    return !result.empty() &&
           distance_between(result.front(), answer, shape) <= confirming_distance;
  });
}

}  // namespace warpalign::detail

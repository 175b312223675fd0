// Signs that a pattern of the sensor has a part in the answer of a search.
#include "registration/patterns/sensor_signs.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "registration/patterns/fine_agreement.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

namespace {

// Of the level of candidates, every second pixel tells whether there may be a pattern.
constexpr std::int64_t looked_at = 2;

// A pattern that is less than a hundredth of the variance pulls a fit by less than a hundredth of
// the scene's motion. It leaves a correlation of this or more.
constexpr double clean_correlation = 0.99;
// Scenes are compared with a pattern that is about as large.
constexpr double max_scale = 1.25;
// The part of the votes from which there may be a pattern.
constexpr double min_sensor_part = 0.004;

// A pattern pulls only a motion that its own structure reaches across: up to this many pixels, and
// this part of the larger side. Views that lie farther apart differ in more than a pattern.
constexpr double least_reach = 16;
constexpr double pulling_reach = 0.25;

// Where nothing seems to have moved, the part of the structure from which something may have.
// Noise changes less there.
constexpr double min_changed_part = 0.15;

// Images that correlate by more show no pattern that is strong enough. In pixels of a level: from
// where on a motion leaves a trace of the pattern; and the correlation that is one.
constexpr double traced_correlation = 0.95;
constexpr double traced_distance = 3;
constexpr double trace_of_pattern = -0.16;
// How much more fine structure agrees where a pattern covers the images. Of 31 generated pairs in
// which it passed for the scene's motion, 24 are above this; of 60 photographs that stand still, of
// 24 under changing light and of 10 real pairs that hardly move, the highest is 0.084.
constexpr double fine_agreement_of_pattern = 0.11;

std::int64_t half_of(std::int64_t side) { return std::max<std::int64_t>(side / 2, 1); }

// The means of squares of two by two pixels.
void halve(std::span<const float> image, std::int64_t width, std::int64_t height,
           std::vector<float>& half) {
  const std::int64_t columns = half_of(width);
  half.resize(static_cast<std::size_t>(columns * half_of(height)));
  std::size_t i = 0;
  for (std::int64_t y = 0; y < half_of(height); ++y) {
    const auto at = [&](std::int64_t x, std::int64_t row) {
      return image[static_cast<std::size_t>(std::min(row, height - 1) * width +
                                            std::min(x, width - 1))];
    };
    for (std::int64_t x = 0; x < columns; ++x, ++i) {
      half[i] = 0.25F * ((at(2 * x, 2 * y) + at(2 * x + 1, 2 * y)) +
                         (at(2 * x, 2 * y + 1) + at(2 * x + 1, 2 * y + 1)));
    }
  }
}

}  // namespace

bool is_beyond_reach(double distance, const Shape& image) {
  return distance > std::max(least_reach, pulling_reach * larger_side(image));
}

bool SensorSigns::may_be_in_votes(double correlation, double scale) {
  return correlation < clean_correlation && scale <= max_scale && scale >= 1 / max_scale;
}

bool SensorSigns::may_be_traced(double correlation) { return correlation < traced_correlation; }

bool SensorSigns::in_votes(FixedPattern& pattern, const SensorAnswer& answer) {
  const MotionVotes votes = pattern.votes(answer.on_level, looked_at, min_sensor_part);
  // A pose that explains less than no motion does is none of the scene's.
  const bool is_worse = votes.sensor > votes.scene && votes.sensor_part() > 0;
  return votes.sensor_part() >= min_sensor_part || is_worse;
}

bool SensorSigns::in_changes(FixedPattern& pattern) {
  return pattern.changed_part() >= min_changed_part;
}

bool SensorSigns::in_fine_structure(const SensorImages& images) {
  return fine_agreement(images) >= fine_agreement_of_pattern;
}

bool SensorSigns::in_residual(const SensorImages& images, const SensorAnswer& answer, float gain) {
  const Shape level{images.width, images.height, 1};
  if (corner_distance(answer.on_level, Homography{}, level) < traced_distance) return false;
  return trace_.find(images, answer.on_level, gain, trace_of_pattern) < 0;
}

SensorImages SensorSigns::halved(const SensorImages& images) {
  halve(images.reference, images.width, images.height, reference_half_);
  halve(images.moving, images.width, images.height, moving_half_);
  return {half_of(images.width), half_of(images.height), reference_half_, moving_half_, {}, {}};
}

bool SensorSigns::any(const SensorImages& images, const SensorAnswer& answer) {
  const bool still = answer.distance < still_distance;
  const bool traced = may_be_traced(answer.correlation);
  pattern_.take(images);
  if (!still && may_be_in_votes(answer.correlation, answer.scale) && in_votes(pattern_, answer)) {
    return true;
  }
  if (still || answer.distance <= max_pulled_distance) {
    const bool is_large = static_cast<double>(std::max(images.width, images.height)) > changed_side;
    if (is_large) of_half_.take(halved(images));
    if (in_changes(is_large ? of_half_ : pattern_)) return true;
    if (traced && in_fine_structure(images)) return true;
  }
  return traced && in_residual(images, answer, pattern_.gain());
}

}  // namespace warpalign::detail

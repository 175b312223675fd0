// A level of two images of one shape in host memory, on which patterns of the sensor are found.
#include "registration/scene/sensor_level.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "registration/pyramid/base_scales.hpp"
#include "registration/pyramid/host_copy.hpp"

#include <algorithm>

namespace warpalign::detail {

void SensorLevel::take(const PairContext& context, double side) {
  const Spacings spacings =
      spacings_for(1, std::max(1.0, larger_side(context.reference.shape()) / side));
  if (reference_ == &context.reference && moving_ == &context.moving &&
      spacing_ == spacings.reference) {
    return;
  }
  forget();
  PyramidLevel& reference =
      context.reference.level(context.stream, context.clock, {spacings.reference});
  PyramidLevel& moving = context.moving.level(context.stream, context.clock, {spacings.moving});
  shape_ = reference.shape();
  to_image_ = reference.to_image();
  copy_to_host(context.stream, reference.values(), values_.reference);
  copy_to_host(context.stream, moving.values(), values_.moving);
  const auto copy_weight = [&](const PyramidLevel& level, std::vector<float>& weight) {
    weight.clear();
    if (level.weight() != nullptr) copy_to_host(context.stream, *level.weight(), weight);
  };
  copy_weight(reference, weights_.reference);
  copy_weight(moving, weights_.moving);
  pattern_.take(images());
  reference_ = &context.reference;
  moving_ = &context.moving;
  spacing_ = spacings.reference;
}

void SensorLevel::take_whole(const PairContext& context) {
  take(context, larger_side(context.reference.shape()));
}

SensorImages SensorLevel::images() const {
  return {shape_.width,   shape_.height,      values_.reference,
          values_.moving, weights_.reference, weights_.moving};
}

Homography SensorLevel::to_level(const Homography& transform) const {
  return Homography(to_image_.inverse()) * transform * to_image_;
}

SensorAnswer SensorLevel::on_level(const PairContext& context, const Candidate& answer) const {
  const Homography transform = transform_of(answer);
  return {to_level(transform), corner_distance(transform, Homography{}, context.reference.shape()),
          scale_of(answer.matrix), answer.correlation};
}

bool SensorLevel::shows_lines() {
  return lines_.find(values_.reference, values_.moving, shape_.width, shape_.height, gain());
}

bool SensorLevel::subtract_lines() {
  if (!shows_lines()) return false;
  forget();
  lines_.subtract(values_.reference, values_.moving);
  return true;
}

bool is_still(const PairContext& context, const Candidate& candidate) {
  return corner_distance(transform_of(candidate), Homography{}, context.reference.shape()) <
         still_distance;
}

}  // namespace warpalign::detail

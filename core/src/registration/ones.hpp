// Images of ones: the weight of a picture without a mask beside one with a mask.
#pragma once

#include "registration/plan_cache.hpp"
#include "registration/similarity/base_scales.hpp"

#include <warpalign/device.hpp>

namespace warpalign::detail {

class Ones {
 public:
  explicit Ones(const Device& device) : device_(device) {}

  /// Valid until as many other shapes were asked for as are kept.
  const Image& of(Stream& stream, const Shape& shape);

 private:
  Device device_;
  /// Those of two pictures: themselves and their views for the shift at every base scale.
  PlanCache<Shape, Image> images_{2 * (base_scales.size() + 1)};
};

/// Weights of a pair, of which either picture may have a mask: both, or none.
struct PairWeights {
  const Image* reference = nullptr;
  const Image* moving = nullptr;
};
PairWeights weights_of(Stream& stream, Ones& ones, const Image* reference_weight,
                       const Shape& reference, const Image* moving_weight, const Shape& moving);

}  // namespace warpalign::detail

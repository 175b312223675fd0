// Images of ones: the weight of an image without a mask whose counterpart has a mask.
#pragma once

#include "registration/plan_cache.hpp"

#include <warpalign/device.hpp>

namespace warpalign::detail {

class Ones {
 public:
  explicit Ones(const Device& device) : device_(device) {}

  /// The image stays valid until as many other shapes have been requested as the cache holds.
  const Image& of(Stream& stream, const Shape& shape);

 private:
  Device device_;
  /// Room for two images, each at full resolution and at the levels that the translation searches
  /// use for every base scale and every scale of the grid.
  PlanCache<Shape, Image> images_{64};
};

/// The weights of a pair. Both are set where either image has a mask; otherwise both are null.
struct PairWeights {
  const Image* reference = nullptr;
  const Image* moving = nullptr;
};
PairWeights weights_of(Stream& stream, Ones& ones, const Image* reference_weight,
                       const Shape& reference, const Image* moving_weight, const Shape& moving);

}  // namespace warpalign::detail

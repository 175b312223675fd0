// Unit weights, for an image without a mask whose counterpart has a mask.
#pragma once

#include "registration/resources/plan_cache.hpp"

#include <warpalign/device.hpp>

namespace warpalign::detail {

class UnitWeights {
 public:
  /// Caches the images of `maximum` shapes.
  UnitWeights(const Device& device, std::size_t maximum) : device_(device), images_(maximum) {}

  /// The image stays valid until `maximum` other shapes have been requested.
  const Image& of(Stream& stream, const Shape& shape);

 private:
  Device device_;
  PlanCache<Shape, Image> images_;
};

/// The weights of a pair. Both are set if either image has a mask; otherwise both are null.
struct PairWeights {
  const Image* reference = nullptr;
  const Image* moving = nullptr;
};
PairWeights weights_of(Stream& stream, UnitWeights& ones, const Image* reference_weight,
                       const Shape& reference, const Image* moving_weight, const Shape& moving);

}  // namespace warpalign::detail

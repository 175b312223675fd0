// A pair as a homography relates it.
#pragma once

#include "registration/pair/context.hpp"
#include "registration/pyramid/image_pyramid.hpp"

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <optional>

namespace warpalign::detail {

/// Levels are coarser along both axes alike, and of an image that is squeezed along one they hold
/// too little. So the moving image is brought to the reference's frame.
class PairInFrame {
 public:
  explicit PairInFrame(const Device& device) : device_(device) {}

  /// The pair with the moving image brought to the reference's frame by a homography, so that what
  /// remains between them is near the identity. Nothing where hardly anything is in common. Waits
  /// for the device. Valid until the next call.
  [[nodiscard]] std::optional<PairContext> show(const PairContext& work,
                                                const Homography& to_moving);

 private:
  Device device_;
  std::optional<ImagePyramid> brought_;
};

}  // namespace warpalign::detail

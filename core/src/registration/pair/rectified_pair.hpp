// A pair whose moving image is warped to the frame of the reference.
#pragma once

#include "registration/pair/context.hpp"
#include "registration/pyramid/image_pyramid.hpp"

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <optional>

namespace warpalign::detail {

/// Pyramid levels are coarser along both axes alike, which loses too much of an image that is
/// compressed along one axis (an oblique view). This class therefore rectifies the moving image
/// first.
class RectifiedPair {
 public:
  explicit RectifiedPair(const Device& device) : device_(device) {}

  /// Returns the pair with the moving image warped by the homography to the reference's frame, so
  /// that the remaining transform is near the identity. Returns nothing if the images hardly
  /// overlap. Waits for the device. The result is valid until the next call.
  [[nodiscard]] std::optional<PairContext> show(const PairContext& work,
                                                const Homography& to_moving);

 private:
  Device device_;
  std::optional<ImagePyramid> warped_moving_;
};

}  // namespace warpalign::detail

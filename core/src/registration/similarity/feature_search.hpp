// Homographies from local features, and the pair as each of them relates it.
#pragma once

#include "registration/similarity/grey_plane.hpp"
#include "registration/similarity/level_pair.hpp"

#include <warpalign/device.hpp>
#include <warpalign/geometry.hpp>

#include <optional>
#include <vector>

namespace warpalign::detail {

/// A plane that is seen from far aside in one image appears so stretched against the other that
/// windows do not find it. Local features of both images do, as they are and in simulated views.
class FeatureSearch {
 public:
  explicit FeatureSearch(const Device& device) : device_(device) {}

  /// Homographies from reference to moving pixels, the one that most features agree on first. Waits
  /// for the device.
  [[nodiscard]] std::vector<Homography> find(const PairWork& work) const;

  /// The pair with the moving image brought to the reference's frame by a homography, so that what
  /// remains between them is near the identity. Levels are coarser along both axes alike, and of an
  /// image that is squeezed along one they would hold too little. Nothing where hardly anything is
  /// in common. Waits for the device. Valid until the next call.
  [[nodiscard]] std::optional<PairWork> in_frame(const PairWork& work, const Homography& to_moving);

 private:
  Device device_;
  std::optional<ImagePyramid> brought_;
};

}  // namespace warpalign::detail

// Homographies that many matches of local features agree on.
#pragma once

#include <warpalign/geometry.hpp>

#include <vector>

namespace warpalign::detail {

/// Two features, of one image and of the other, that resemble each other more than others.
struct FeatureMatch {
  Point reference, moving;
  double ratio = 1;  ///< of the descriptors' distance to that of the next best place
};

/// The matches of features of images with these larger sides, the clearest first, no two of them at
/// about the same places.
[[nodiscard]] std::vector<FeatureMatch> distinct(std::vector<FeatureMatch> matches,
                                                 double reference_side, double moving_side);

/// Homographies from reference to moving image that many matches agree with, the one with the most
/// first. No match agrees with two of them.
[[nodiscard]] std::vector<Homography> homographies_of(std::vector<FeatureMatch> matches,
                                                      double reference_side, double moving_side);

}  // namespace warpalign::detail

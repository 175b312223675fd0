// Homographies from local features of two images, each as seen from the side, too.
#pragma once

#include "registration/similarity/grey_plane.hpp"
#include "registration/similarity/local_features.hpp"

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The local features of an image as it is, and of views in which it is a few times as short in one
/// of many directions as across it (Morel & Yu 2009). Places are in pixels of the image.
[[nodiscard]] std::vector<LocalFeature> features_of_views(const GreyPlane& image);

/// How many pairs of such views there are of two images.
[[nodiscard]] double compared_views();

/// Two features, of one image and of the other, that resemble each other more than others.
struct FeatureMatch {
  Point reference, moving;
  double ratio = 1;  ///< of the descriptors' distance to that of the next best place
};

/// The matches of features of images with these larger sides, the clearest first, no two of them at
/// about the same places.
[[nodiscard]] std::vector<FeatureMatch> matches_of(std::span<const LocalFeature> reference,
                                                   std::span<const LocalFeature> moving,
                                                   double reference_side, double moving_side);

/// Homographies from reference to moving image that many matches agree with, the one with the most
/// first. No match agrees with two of them.
[[nodiscard]] std::vector<Homography> homographies_of(std::vector<FeatureMatch> matches,
                                                      double reference_side, double moving_side);

}  // namespace warpalign::detail

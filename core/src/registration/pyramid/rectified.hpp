// An image as another one would show it.
#pragma once

#include "registration/pyramid/grey_plane.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <vector>

namespace warpalign::detail {

struct Rectified {
  GreyPlane values;
  std::vector<std::uint8_t> mask;  ///< 0 where a pixel does not count
};

/// `moving` at the places to which a transform maps the pixels of a reference, each as the mean of
/// what it takes in there: where lengths shrink along one direction only, it is smoothed along that
/// one only. `weights` says how much each pixel of `moving` counts; empty where all do.
[[nodiscard]] Rectified rectified(const GreyPlane& moving, const std::vector<float>& weights,
                                  const Homography& to_moving, const Shape& reference);

/// Whether enough of it counts, and differs, for it to be registered.
[[nodiscard]] bool is_registrable(const Rectified& image);

}  // namespace warpalign::detail

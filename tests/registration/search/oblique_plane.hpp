// A plane that two images show from different directions.
#pragma once

#include "support/corners.hpp"

#include <warpalign/homogeneous_matrix.hpp>

namespace test::oblique_plane {

inline constexpr warpalign::Shape shape{112, 84, 1};

/// Strong perspective on top of a rotation by 40 degrees.
inline warpalign::Homography truth() {
  return warpalign::Homography(warpalign::Similarity{40, 1, {5, -3}}.matrix(shape, shape)) *
         moving_corners(shape, {{{9, 6}, {-12, 9}, {-7, -11}, {10, -8}}});
}

}  // namespace test::oblique_plane

// Draws a picture of a scene.
#pragma once

#include "accuracy/scene.hpp"
#include "reference/plane.hpp"

#include <warpalign/geometry.hpp>

namespace accuracy {

/// A picture of `shape` whose pixel is the mean of the scene over the pixel's own area, by samples
/// on a regular grid: their distance is at most three quarters of the raster's, and there are at
/// least 4 x 4. `to_scene` maps pixels to points of the scene.
[[nodiscard]] reference::Plane draw(const Scene& scene, const warpalign::Homography& to_scene,
                                    const warpalign::Shape& shape);

}  // namespace accuracy

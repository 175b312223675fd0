// Whether two images that hardly moved agree because a pattern of the sensor covers them.
#pragma once

#include "registration/patterns/fixed_pattern.hpp"

namespace warpalign::detail {

/// By how much the correlation of fine structure (the Laplacian) exceeds that of structure of 3 to
/// 9 pixels, at no motion. A scene agrees in both, and noise, which differs between the images, in
/// fine structure less. Only a pattern of the sensor agrees more there than the scene, which has
/// moved behind it. -1 where fine structure does not agree.
[[nodiscard]] double fine_agreement(const SensorImages& images);

}  // namespace warpalign::detail

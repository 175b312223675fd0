// Which pixels of the levels of a deformable registration count if some pixels are ignored.
#pragma once

#include <warpalign/pixel.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// A pixel of the coarser level is known if all pixels are that it is the mean of: 2 along each
/// axis that is halved. 1 or 0.
[[nodiscard]] std::vector<float> halved_known(std::span<const float> known, const Shape& fine,
                                              const Shape& coarse);

/// 1 for pixels whose neighbours up to `reach` pixels away along all axes are known, as far as they
/// are within the image, else 0.
[[nodiscard]] std::vector<float> eroded_known(std::span<const float> known, const Shape& shape,
                                              int reach);

}  // namespace warpalign::detail

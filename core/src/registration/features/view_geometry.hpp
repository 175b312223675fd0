// The simulated views in which local features are detected.
#pragma once

#include <warpalign/backend/stages/features/simulated_views.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// The views of an image at a side of 1024 pixels: the image itself and simulated tilts in many
/// directions (Morel & Yu 2009; tilts of both images: Mishkin, Matas & Perdoch 2015). Grouped by
/// tilt.
[[nodiscard]] std::vector<SimulatedViewsSpec> views_of(const Shape& image);

/// The distance of the pixels of a view without a tilt, in pixels of the image.
[[nodiscard]] double spacing_of_views(const Shape& image);

/// The number of views of an image.
[[nodiscard]] std::size_t num_views();

}  // namespace warpalign::detail

// From which sides an image is looked at for local features.
#pragma once

#include <warpalign/backend/stages/features/simulated_views.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// The views of an image, brought to 1024 pixels: as it is, and squeezed in many directions (Morel
/// & Yu 2009; both images squeezed: Mishkin, Matas & Perdoch 2015). In groups of those that are
/// squeezed alike.
[[nodiscard]] std::vector<SimulatedViewsSpec> views_of(const Shape& image);

/// The distance of the pixels of a view that is not squeezed, in pixels of the image.
[[nodiscard]] double spacing_of_views(const Shape& image);

/// How many views there are of an image.
[[nodiscard]] std::size_t count_of_views();

}  // namespace warpalign::detail

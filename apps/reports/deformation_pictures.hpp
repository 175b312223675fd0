// Pictures of a deformation: the overlay with a bent grid, and maps in colour.
#pragma once

#include "io/image_file.hpp"
#include "io/npy.hpp"
#include "reports/overlay.hpp"

#include <warpalign/deformation.hpp>

namespace warpalign::program {

/// The two panels of draw_overlay(), and a third one: the dimmed reference with the lines of a
/// regular grid of the moving image, after the affine transform, where the deformation brings them
/// to lie. Blue marks pixels that nothing determines: NaN in `agreement` (height, width). 8-bit
/// RGB.
[[nodiscard]] LoadedImage draw_deformed_overlay(const LoadedImage& reference,
                                                const LoadedImage& aligned,
                                                const Deformation& deformation, const Shape& moving,
                                                const Array& agreement);

/// Determinants of a Jacobian matrix (height, width) in colour: white is 1, red more, blue less, in
/// a logarithmic scale that is full at 1/3 and 3. 8-bit RGB.
[[nodiscard]] LoadedImage draw_jacobians(const Array& determinants);

/// Correlations (height, width) in gray: black is 0 or less, white is 1; blue is NaN. 8-bit RGB.
[[nodiscard]] LoadedImage draw_agreement(const Array& agreement);

}  // namespace warpalign::program

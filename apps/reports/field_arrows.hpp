// Draws a displacement field as arrows over a picture.
#pragma once

#include "io/image_file.hpp"
#include "reports/frame_motion.hpp"

#include <string>

namespace warpalign::program {

/// An SVG element of the picture, which covers the field's frame (at any scale), with arrows at the
/// windows' centres that show the deviation of the field from its mean. Green: windows that are
/// used; orange: outliers; gray: windows without a reliable shift. `motion` must have a field. If
/// there are many windows, only every second, third, ... has an arrow.
[[nodiscard]] std::string draw_field_arrows(const LoadedImage& picture, const FrameMotion& motion);

/// The caption: one or two sentences that include the scale of the arrows.
[[nodiscard]] std::string field_arrows_words(const FrameMotion& motion);

}  // namespace warpalign::program

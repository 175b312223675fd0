// A displacement field as arrows over a picture.
#pragma once

#include "io/image_file.hpp"
#include "reports/frame_motion.hpp"

#include <string>

namespace warpalign::program {

/// An SVG element: the picture, which covers the field's frame (at any scale), and at the windows'
/// centres arrows that show how the field differs from its mean. Green: windows that count; orange:
/// outliers; gray: windows without a reliable shift. `motion` has a field. Of many windows every
/// second is drawn, or every third, and so on.
[[nodiscard]] std::string draw_field_arrows(const LoadedImage& picture, const FrameMotion& motion);

/// What the picture shows, as a sentence or two, the arrows' scale among it.
[[nodiscard]] std::string field_arrows_words(const FrameMotion& motion);

}  // namespace warpalign::program

// Build options that several kernels share: pixel types, boundary rules, constants.
#pragma once

#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/stages/sobel.hpp>

#include <string>

namespace warpalign::opencl {

/// " -D NAME=value", exact to the last bit.
[[nodiscard]] std::string float_option(const char* name, double value);
[[nodiscard]] std::string int_option(const char* name, int value);

/// " -D PIXEL_..." for formulas/opencl_pixels.h; complex numbers are read as pairs of f32.
[[nodiscard]] std::string pixel_option(PixelType type);

/// The options of formulas/opencl_signal.h for images of `width` pixels.
[[nodiscard]] std::string signal_options(PixelType type, Signal signal, std::int64_t width);

/// " -D EXTENSION=..." with the number of formulas/boundary.h.
[[nodiscard]] std::string extension_option(backend::Extension extension);

/// " -D POINTS_..." for formulas/opencl_spline_points.h, and " -D OUTPUT_..." for
/// formulas/opencl_output.h.
[[nodiscard]] std::string points_option(backend::InterpolateDetails::Points points);
[[nodiscard]] std::string output_option(PixelType type);

/// What evaluation pixel by pixel, and by rows, is built with in all forms.
[[nodiscard]] std::string spline_options(const InterpolateSpec& spec,
                                         const backend::InterpolateDetails& details);

}  // namespace warpalign::opencl

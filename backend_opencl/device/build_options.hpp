// Build options that several kernels share: pixel types, boundary rules, constants.
#pragma once

#include <warpalign/backend/stages/spline/interpolate.hpp>
#include <warpalign/stages/sobel.hpp>

#include <string>

namespace warpalign::opencl {

/// Returns " -D NAME=value". A float is written in hexadecimal, which keeps every bit.
[[nodiscard]] std::string float_option(const char* name, double value);
[[nodiscard]] std::string int_option(const char* name, int value);

/// Returns " -D PIXEL_..." for lib/pixels.h. Complex numbers are read as pairs of f32.
[[nodiscard]] std::string pixel_option(PixelType type);

/// Returns the options of lib/signal.h for images that are `width` pixels wide.
[[nodiscard]] std::string signal_options(PixelType type, Signal signal, std::int64_t width);

/// Returns " -D EXTENSION=..." with the number that formulas/boundary.h gives the extension.
[[nodiscard]] std::string extension_option(backend::Extension extension);

/// Return " -D POINTS_..." for lib/spline_points.h, and " -D OUTPUT_..." for lib/output.h.
[[nodiscard]] std::string points_option(backend::InterpolateDetails::Points points);
[[nodiscard]] std::string output_option(PixelType type);

/// Returns the options of all kernels that evaluate splines pixel by pixel, or by rows.
[[nodiscard]] std::string spline_options(const InterpolateSpec& spec,
                                         const backend::InterpolateDetails& details);

}  // namespace warpalign::opencl

// Samples in host memory, as numbers of double precision.
#pragma once

#include <warpalign/pixel.hpp>

#include <span>

namespace warpalign::detail {

/// Reads consecutive samples of a real type.
void read_line(PixelType type, const void* line, std::span<double> samples);
/// Writes them, with integers rounded to the nearest and saturated.
void write_line(PixelType type, std::span<const double> samples, void* line);

}  // namespace warpalign::detail

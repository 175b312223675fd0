// Checks of what functions for sensor patterns take.
#pragma once

#include <warpalign/pixel.hpp>
#include <warpalign/sensor_pattern.hpp>

#include <span>

namespace warpalign::detail {

inline constexpr const char* pattern_stage = "sensor pattern";

/// Throws Error(invalid_argument) for frames that are complex, have invalid rows or different
/// shapes, and for a mask that is not u8 of their shape. `mask` may be null.
void check_frames(std::span<const HostImage> frames, const HostImage* mask);

/// Throws Error(invalid_argument) if a frame is complex, has invalid rows, or another shape than
/// the pattern, or the pattern has not one offset for each pixel.
void check_like_pattern(const SensorPattern& pattern, const HostImage& frame);

}  // namespace warpalign::detail

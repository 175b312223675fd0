// Frames of a scene with known drift.
#pragma once

#include "bench/pixels.hpp"

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <cstdint>

namespace warpalign::program::bench {

/// Makes `count` consecutive square frames of 16-bit pixels. They are cut from a scene at twice the
/// resolution, and each pixel is the mean of four pixels of the scene, so that shifts are multiples
/// of half a pixel.
[[nodiscard]] Pixels drifting_frames(std::int64_t side, std::size_t count);

/// The shift of the content of a frame relative to frame 0, in pixels.
[[nodiscard]] Point drift_of(std::size_t frame);

/// Makes `count` square frames of 16-bit pixels that rotate, grow and shift.
[[nodiscard]] Pixels rotating_frames(std::int64_t side, std::size_t count);

/// Maps the pixels of frame 0 to one of these frames.
[[nodiscard]] Affine turn_of(std::int64_t side, std::size_t frame);

}  // namespace warpalign::program::bench

// Frames of one scene whose drift is known.
#pragma once

#include "bench/pixels.hpp"

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <cstdint>

namespace warpalign::program::bench {

/// `count` square frames of 16-bit pixels, one after the other. They are cut out of a scene of
/// twice as many pixels, and each of their pixels is the mean of four of it: so they are shifted by
/// halves of pixels.
[[nodiscard]] Pixels drifting_frames(std::int64_t side, std::size_t count);

/// How far the content of a frame lies from that of frame 0, in pixels.
[[nodiscard]] Point drift_of(std::size_t frame);

/// `count` square frames of 16-bit pixels that turn, grow and shift.
[[nodiscard]] Pixels turning_frames(std::int64_t side, std::size_t count);

/// Where the pixels of frame 0 lie in a frame of these.
[[nodiscard]] Affine turn_of(std::int64_t side, std::size_t frame);

}  // namespace warpalign::program::bench

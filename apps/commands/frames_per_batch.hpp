// How many frames of a stack are registered at once.
#pragma once

#include "io/image_file.hpp"

#include <algorithm>
#include <cstddef>

namespace warpalign::program {

/// As many frames as keep a GPU busy, but few enough to need little host memory.
[[nodiscard]] inline std::size_t frames_per_batch(const LoadedImage& frame) {
  constexpr std::size_t max_frames = 32;
  constexpr std::size_t max_bytes = std::size_t{64} << 20;
  return std::clamp<std::size_t>(max_bytes / frame.pixels.size(), 1, max_frames);
}

}  // namespace warpalign::program

// How many frames of a stack are registered at once.
#pragma once

#include "io/image_file.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace warpalign::program {

/// As many frames as keep a GPU busy, but few enough to need little host memory. `planes`: of one
/// frame.
[[nodiscard]] inline std::size_t frames_per_batch(std::span<const LoadedImage> planes) {
  constexpr std::size_t max_frames = 32;
  constexpr std::size_t max_bytes = std::size_t{64} << 20;
  std::size_t bytes = 0;
  for (const LoadedImage& plane : planes) {
    bytes += plane.row_bytes() * static_cast<std::size_t>(plane.height);
  }
  return std::clamp<std::size_t>(max_bytes / bytes, 1, max_frames);
}

[[nodiscard]] inline std::size_t frames_per_batch(const LoadedImage& frame) {
  return frames_per_batch(std::span(&frame, 1));
}

}  // namespace warpalign::program

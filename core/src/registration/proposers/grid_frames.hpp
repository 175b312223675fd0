// The frames on which a grid of rotations and scales is compared.
#pragma once

#include "registration/proposers/translation_search.hpp"

#include <cstdint>

namespace warpalign::detail {

/// How fine the grid is.
struct GridSteps {
  double rotation;  ///< degrees
  double scale;     ///< a factor above 1
  /// Of the padded frames; images of one scale and square shape are then about 0.4 times as wide.
  /// All are tried on the small frames, and what leads to the best places again on the large ones;
  /// but by grey levels strong zooms, which leave a few pixels in common on small frames, are tried
  /// on large ones alone.
  std::int64_t small_side, large_side;
};

/// The translation searches on small and on large frames.
struct GridFrames {
  /// How many rotations are compared at once.
  struct Batches {
    std::int64_t small, large;
  };
  GridFrames(const Device& device, const GridSteps& steps, const Batches& batches, Ones& ones,
             GradientFields* fields)
      : small(device, steps.small_side, ones, batches.small, fields),
        large(device, steps.large_side, ones, batches.large, fields) {}

  TranslationSearch small, large;
};

}  // namespace warpalign::detail

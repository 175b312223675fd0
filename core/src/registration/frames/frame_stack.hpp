// Images that lie one after another in a stack, and how many there are.
#pragma once

#include <warpalign/backend/stages/filter/smooth.hpp>

#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

[[nodiscard]] inline std::size_t count_of(std::int64_t images) {
  return static_cast<std::size_t>(images);
}

/// The same filter for a stack of images.
[[nodiscard]] inline SmoothSpec stack_of(SmoothSpec spec, std::int64_t images) {
  spec.images = images;
  return spec;
}

}  // namespace warpalign::detail

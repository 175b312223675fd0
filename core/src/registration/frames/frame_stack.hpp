// Images that lie one after another in a stack, and how many there are.
#pragma once

#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace warpalign::detail {

[[nodiscard]] inline std::size_t count_of(std::int64_t images) {
  return static_cast<std::size_t>(images);
}

/// The same filter for a stack of images.
[[nodiscard]] inline SmoothSpec stack_of(SmoothSpec spec, std::int64_t images) {
  spec.images = images;
  return spec;
}

/// Normalizes a stack with the levels of all images, or of each.
inline void normalize(Stream& stream, const LocalNormalizationPlan& plan, const Image& images,
                      std::span<const LocalLevels> levels, Image& normalized) {
  if (levels.size() == 1) return plan.execute(stream, images, levels.front(), normalized);
  plan.execute(stream, images, levels, normalized);
}

}  // namespace warpalign::detail

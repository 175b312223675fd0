// Inks to colours.
#pragma once

#include <cstdint>

namespace warpalign::program {

/// A colour channel from its ink and black: the product of what both leave of white, as without a
/// colour profile. `full`: the most of an ink.
template <typename Sample>
[[nodiscard]] Sample colour_of_inks(Sample ink, Sample black, std::uint64_t full) {
  const std::uint64_t product = (full - ink) * (full - black);
  return static_cast<Sample>((product + full / 2) / full);
}

}  // namespace warpalign::program

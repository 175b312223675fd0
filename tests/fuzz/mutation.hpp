// Random changes of an input, which depend on the input, the seed and the number alone.
#pragma once

#include "target.hpp"

namespace warpalign::fuzz {

/// Replaces, removes, duplicates or moves bytes, writes extreme numbers, or truncates.
[[nodiscard]] std::vector<std::uint8_t> mutated(const std::vector<std::uint8_t>& original,
                                                std::uint64_t seed, std::uint64_t number);

}  // namespace warpalign::fuzz

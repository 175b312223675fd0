// A changed copy of an input, the same for the same numbers.
#pragma once

#include "target.hpp"

namespace warpalign::fuzz {

/// Bytes are replaced, removed, doubled or moved, numbers become extreme ones, the end is cut off.
[[nodiscard]] std::vector<std::uint8_t> mutated(const std::vector<std::uint8_t>& original,
                                                std::uint64_t seed, std::uint64_t number);

}  // namespace warpalign::fuzz

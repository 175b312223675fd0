// Integers of 64 bits, which the library does not have, in 32 bits.
#pragma once

#include <warpalign/pixel.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::program {

/// Converts numbers of 64 bits to `type`: i32 from signed, u32 from unsigned numbers. Throws
/// FileError for one that does not fit.
[[nodiscard]] std::vector<std::byte> narrow_integers(std::span<const std::byte> wide,
                                                     PixelType type);

}  // namespace warpalign::program

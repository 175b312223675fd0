// SHA-256 (FIPS 180-4), for naming and checking cache entries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpalign::detail {

inline constexpr std::size_t sha256_hex_length = 64;

/// The digest in lower-case hexadecimal.
std::string sha256_hex(std::string_view bytes);

}  // namespace warpalign::detail

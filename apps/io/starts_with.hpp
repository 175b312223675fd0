// Whether a file begins with the bytes that mark its format.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace warpalign::program {

[[nodiscard]] inline bool starts_with(std::span<const std::byte> head, std::string_view magic) {
  return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
}

}  // namespace warpalign::program

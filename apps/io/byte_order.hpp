// Converts numbers between byte orders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace warpalign::program {

/// Reverses the bytes of each number of `word` bytes.
inline void reverse_words(std::span<std::byte> numbers, std::size_t word) {
  for (std::size_t i = 0; i + word <= numbers.size(); i += word) {
    std::ranges::reverse(numbers.subspan(i, word));
  }
}

}  // namespace warpalign::program

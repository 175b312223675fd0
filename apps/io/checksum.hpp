// A checksum that detects accidental damage, not attacks: 64-bit FNV-1a.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace warpalign::program {

class Checksum {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3U;
    }
  }
  /// Includes the end of the text, so that "ab", "c" differs from "a", "bc".
  void add(std::string_view text) {
    add(std::as_bytes(std::span(text.data(), text.size())));
    const std::byte end{0};
    add({&end, 1});
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace warpalign::program

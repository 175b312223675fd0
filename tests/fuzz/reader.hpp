// Takes numbers and choices from the bytes of an input.
#pragma once

#include "target.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace warpalign::fuzz {

/// Returns zeros once the bytes are used up.
class Reader {
 public:
  explicit Reader(Input input) : rest_(input) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::uint8_t byte() { return number<std::uint8_t>(); }

  template <class Number>
  Number number() {
    Number value{};
    const std::size_t bytes = std::min(sizeof value, rest_.size());
    if (bytes > 0) std::memcpy(&value, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
    return value;
  }
  /// Returns one element of a list.
  template <class Choices>
  const auto& one_of(const Choices& choices) {
    return *(std::begin(choices) + byte() % std::size(choices));
  }
  Input rest() { return std::exchange(rest_, {}); }
  std::string text() {
    const Input bytes = rest();
    return {bytes.begin(), bytes.end()};
  }

 private:
  Input rest_;
};

}  // namespace warpalign::fuzz

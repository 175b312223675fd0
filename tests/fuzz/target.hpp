// A fuzz target: code that must not fail, whatever the bytes of its input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace warpalign::fuzz {

using Input = std::span<const std::uint8_t>;

struct Target {
  std::string_view name;  ///< the name of its file, and of its folder in corpus/
  void (*run)(Input);     ///< exceptions and failures of require() are findings
};

/// The targets that are linked into the program.
[[nodiscard]] std::vector<Target>& targets();

/// Adds a target. Each target's file defines a static object of this type.
struct Registration {
  Registration(std::string_view name, void (*run)(Input)) { targets().push_back({name, run}); }
};

/// Ends the program with this message if the condition is false.
void require(bool holds, std::string_view what);

}  // namespace warpalign::fuzz

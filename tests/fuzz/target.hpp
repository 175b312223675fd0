// A fuzz target: what is run on any bytes whatever, and must not fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace warpalign::fuzz {

using Input = std::span<const std::uint8_t>;

struct Target {
  std::string_view name;  ///< that of its file, and of its folder in corpus/
  void (*run)(Input);     ///< an exception that leaves it is a finding, and so is require()
};

/// Those that are linked into the program.
[[nodiscard]] std::vector<Target>& targets();

/// Adds a target: a static object of its file does so.
struct Registration {
  Registration(std::string_view name, void (*run)(Input)) { targets().push_back({name, run}); }
};

/// Ends the program with these words where the condition does not hold.
void require(bool holds, std::string_view what);

}  // namespace warpalign::fuzz

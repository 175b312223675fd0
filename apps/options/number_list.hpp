// Options made of several numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpalign::program {

/// "1, 2.5,-3" or "1 2.5 -3": finite numbers. Throws UsageError, naming the option.
[[nodiscard]] std::vector<double> parse_numbers(const std::string& option, const std::string& text);

/// "480x640": the extents of an array, the slowest axis first, each at least 1. Throws UsageError.
[[nodiscard]] std::vector<std::int64_t> parse_extents(const std::string& option,
                                                      const std::string& text);

}  // namespace warpalign::program

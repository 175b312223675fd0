// Parses options that hold several numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// Parses finite numbers such as "1, 2.5,-3" or "1 2.5 -3". Throws UsageError, naming the option.
[[nodiscard]] std::vector<double> parse_numbers(const std::string& option, const std::string& text);

/// Parses one finite number, if there is a text. Throws UsageError, naming the option.
[[nodiscard]] std::optional<double> parse_number(const std::string& option,
                                                 const std::optional<std::string>& text);

/// Parses the extents of an array such as "480x640", slowest axis first, each at least 1. Throws
/// UsageError.
[[nodiscard]] std::vector<std::int64_t> parse_extents(const std::string& option,
                                                      const std::string& text);

}  // namespace warpalign::program

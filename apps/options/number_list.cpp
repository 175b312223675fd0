// Parses options that hold several numbers, independently of the locale.
#include "options/number_list.hpp"

#include "io/npy.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace warpalign::program {
namespace {

template <typename Number>
bool parse_whole(std::string_view text, Number& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find_first_of(separators, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// Splits at commas, or at whitespace if there is no comma.
std::vector<std::string_view> words_of(std::string_view text) {
  if (text.find(',') != std::string_view::npos) return split(text, ",");
  std::vector<std::string_view> words;
  for (const std::string_view word : split(text, " \t\n")) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

}  // namespace

std::vector<double> parse_numbers(const std::string& option, const std::string& text) {
  std::vector<double> numbers;
  for (const std::string_view word : words_of(text)) {
    double number = 0;
    if (!parse_whole(trimmed(word), number) || !std::isfinite(number)) {
      throw UsageError(fmt::format("{} {}: '{}' is not a finite number", option, text, word));
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::optional<double> parse_number(const std::string& option,
                                   const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::vector<double> numbers = parse_numbers(option, *text);
  if (numbers.size() == 1) return numbers.front();
  throw UsageError(fmt::format("{} {}: must be a number", option, *text));
}

std::vector<std::int64_t> parse_extents(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> extents;
  for (const std::string_view word : split(text, "x")) {
    std::int64_t extent = 0;
    if (!parse_whole(word, extent) || extent < 1 || extent > max_extent) {
      throw UsageError(fmt::format(
          "{} {}: must be integers from 1 to 2^30 separated by x, such as 480x640", option, text));
    }
    extents.push_back(extent);
  }
  return extents;
}

}  // namespace warpalign::program

// Numbers and lines of text files, independent of the locale.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpalign::transform_files {

/// Throws Error(invalid_argument).
[[noreturn]] void refuse(const std::string& what);

/// The text without spaces, tabs and line ends at both sides.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The number that is all of `word`. Throws Error unless it is finite. `what`: for the message.
[[nodiscard]] double number_of(std::string_view word, std::string_view what);
/// The numbers of a text, between spaces, tabs and line ends. Throws Error.
[[nodiscard]] std::vector<double> numbers_of(std::string_view text, std::string_view what);
/// Throws Error unless there are `count` numbers.
void expect_count(std::span<const double> numbers, std::size_t count, std::string_view what);
/// The shortest text that is read as the same number.
[[nodiscard]] std::string text_of(double number);
/// The numbers, separated by `separator`.
[[nodiscard]] std::string text_of(std::span<const double> numbers,
                                  std::string_view separator = " ");

/// The lines of a text, without spaces at their ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  /// The next line that is not empty; nothing at the end.
  [[nodiscard]] std::optional<std::string_view> next();
  /// The next line that is not empty. Throws Error with `what` at the end.
  [[nodiscard]] std::string_view expect(std::string_view what);

 private:
  std::string_view rest_;
};

}  // namespace warpalign::transform_files

// Numbers and lines of text files, independent of the locale.
#include "text.hpp"

#include <warpalign/error.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace warpalign::transform_files {
namespace {

constexpr std::string_view spaces = " \t\r\n\f\v";
constexpr std::size_t max_shown = 40;  // characters of a file in a message

std::string shown(std::string_view word) {
  std::string text(word.substr(0, max_shown));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return word.size() > max_shown ? text + "..." : text;
}

}  // namespace

void refuse(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

double number_of(std::string_view word, std::string_view what) {
  std::string_view digits = word;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, number);
  const bool tiny = code == std::errc::result_out_of_range && stop == end &&
                    std::abs(std::strtod(std::string(digits).c_str(), nullptr)) < 1;
  if (tiny) return 0;
  if (code != std::errc{} || stop != end || !std::isfinite(number)) {
    refuse(std::string(what) + ": '" + shown(word) + "' is not a finite number");
  }
  return number;
}

std::vector<double> numbers_of(std::string_view text, std::string_view what) {
  std::vector<double> numbers;
  while (true) {
    const std::size_t first = text.find_first_not_of(spaces);
    if (first == std::string_view::npos) return numbers;
    text.remove_prefix(first);
    const std::string_view word = text.substr(0, text.find_first_of(spaces));
    numbers.push_back(number_of(word, what));
    text.remove_prefix(word.size());
  }
}

void expect_count(std::span<const double> numbers, std::size_t count, std::string_view what) {
  if (numbers.size() == count) return;
  refuse(std::string(what) + ": has " + std::to_string(numbers.size()) + " numbers instead of " +
         std::to_string(count));
}

std::string text_of(double number) {
  std::array<char, 32> buffer{};
  const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                         number == 0 ? 0.0 : number);  // no -0
  return {buffer.data(), code == std::errc{} ? end : buffer.data()};
}

std::string text_of(std::span<const double> numbers, std::string_view separator) {
  std::string text;
  for (const double number : numbers) {
    if (!text.empty()) text += separator;
    text += text_of(number);
  }
  return text;
}

std::optional<std::string_view> Lines::next() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    const std::string_view line = trimmed(rest_.substr(0, end));
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!line.empty()) return line;
  }
  return std::nullopt;
}

std::string_view Lines::expect(std::string_view what) {
  if (const auto line = next()) return *line;
  refuse("the file ends before " + std::string(what) + "; copy or export it again");
}

}  // namespace warpalign::transform_files

// The words of a journal's lines, and the checksum of each line.
#pragma once

#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace warpalign::program {

/// Stands for a value that does not exist.
inline constexpr const char* no_value = "-";

/// Encodes a text as one word: % and two hexadecimal digits replace characters that are not
/// visible.
[[nodiscard]] std::string word_of(const std::string& text);

/// Parses the words of a line, and records whether one was missing or invalid.
class WordParser {
 public:
  explicit WordParser(std::string_view line) : stream_(std::string(line)) {}

  [[nodiscard]] std::string next();
  /// The inverse of word_of().
  [[nodiscard]] std::string text();
  [[nodiscard]] std::size_t index() { return index_of(next()); }
  [[nodiscard]] std::size_t index_of(const std::string& word);
  [[nodiscard]] double number() { return number_of(next()); }
  [[nodiscard]] double number_of(const std::string& word);
  [[nodiscard]] bool flag() { return index() != 0; }
  void refuse() { good_ = false; }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::istringstream stream_;
  bool good_ = true;
};

/// Adds a checksum and a newline to a line, and checks and removes them. unsealed() returns nothing
/// if the checksum is wrong.
[[nodiscard]] std::string sealed(const std::string& line);
[[nodiscard]] std::optional<std::string> unsealed(std::string_view line);

}  // namespace warpalign::program

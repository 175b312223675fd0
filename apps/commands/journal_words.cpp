// The words of a journal's lines, and the checksum of each line.
#include "commands/journal_words.hpp"

#include "io/checksum.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace warpalign::program {
namespace {

std::optional<std::string> text_of(const std::string& word) {
  if (word == no_value) return "";
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      text += word[i];
      continue;
    }
    int value = 0;
    if (i + 2 >= word.size()) return {};
    const char* end = word.data() + i + 3;
    const auto [stop, failed] = std::from_chars(word.data() + i + 1, end, value, 16);
    if (failed != std::errc{} || stop != end) return {};
    text += static_cast<char>(value);
    i += 2;
  }
  return text;
}

}  // namespace

std::string word_of(const std::string& text) {
  if (text.empty()) return no_value;
  std::string word;
  for (const char c : text) {
    const bool plain = c > ' ' && c < 127 && c != '%' && c != '-';
    word += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return word;
}

std::string WordParser::next() {
  std::string word;
  stream_ >> word;
  if (word.empty()) good_ = false;
  return word;
}

std::string WordParser::text() {
  const std::optional<std::string> text = text_of(next());
  if (!text) good_ = false;
  return text.value_or("");
}

std::size_t WordParser::index_of(const std::string& word) {
  std::size_t value = 0;
  const char* end = word.data() + word.size();
  const auto [stop, failed] = std::from_chars(word.data(), end, value);
  if (failed != std::errc{} || stop != end) good_ = false;
  return value;
}

double WordParser::number_of(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0') good_ = false;
  return value;
}

std::string sealed(const std::string& line) {
  Checksum checksum;
  checksum.add(std::string_view(line));
  return fmt::format("{} {:016x}\n", line, checksum.value());
}

std::optional<std::string> unsealed(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos) return {};
  const std::string content(line.substr(0, blank));
  if (sealed(content) != std::string(line) + "\n") return {};
  return content;
}

}  // namespace warpalign::program

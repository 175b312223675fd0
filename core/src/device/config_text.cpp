// Goes through TOML's comments and quotes, and through nothing else of it.
#include "device/config_text.hpp"

#include <algorithm>
#include <string>

namespace warpalign::detail {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

std::size_t end_of_line(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

// Behind the quotes that end the text which begins at `at`. Three quotes may enclose several lines,
// and two more that belong to the text may stand in front of those that end it.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool multiline = text.substr(at).starts_with(three);
  std::size_t i = at + (multiline ? 3 : 1);
  while (i < text.size()) {
    if (text[i] == '\\' && quote == '"') {
      i = std::min(i + 2, text.size());
    } else if (!multiline && text[i] == '\n') {
      return i;
    } else if (multiline ? text.substr(i).starts_with(three) : text[i] == quote) {
      i += multiline ? 3 : 1;
      for (int spare = 0; multiline && spare < 2 && i < text.size() && text[i] == quote; ++spare)
        ++i;
      return i;
    } else {
      ++i;
    }
  }
  return i;
}

}  // namespace

std::optional<std::uint32_t> line_beyond_ascii(std::string_view text) {
  std::uint32_t line = 1;
  bool in_value = false;
  for (std::size_t i = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
       i < text.size();) {
    const char c = text[i];
    if (is_beyond_ascii(c)) return line;
    if (c == '#') {
      i = end_of_line(text, i);
    } else if (c == '"' || c == '\'') {
      const std::string_view quoted = text.substr(i, end_of_quoted(text, i) - i);
      if (!in_value && std::any_of(quoted.begin(), quoted.end(), is_beyond_ascii)) return line;
      line += static_cast<std::uint32_t>(std::count(quoted.begin(), quoted.end(), '\n'));
      i += quoted.size();
    } else {
      if (c == '\n') ++line;
      if (c == '=') in_value = true;
      if (c == '\n' || c == '{' || c == ',') in_value = false;
      ++i;
    }
  }
  return std::nullopt;
}

}  // namespace warpalign::detail

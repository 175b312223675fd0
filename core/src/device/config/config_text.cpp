// A scanner for the comments and quoted strings of TOML.
#include "device/config/config_text.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace warpalign::detail {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

struct Character {
  std::uint32_t code;
  std::size_t bytes;
};

// The character beyond ASCII that `text` begins with, if it is valid UTF-8 (RFC 3629): of the
// shortest form, not a surrogate, at most U+10FFFF.
std::optional<Character> first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xc0 || lead > 0xf4 || text.size() < bytes) return std::nullopt;
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (const char c : text.substr(1, bytes - 1)) {
    if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80) return std::nullopt;
    code = code << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < smallest[bytes] || code > 0x10ffff || surrogate) return std::nullopt;
  return Character{code, bytes};
}

std::string escape(std::uint32_t code) {
  char digits[16];
  std::snprintf(digits, sizeof digits, "\\U%08x", static_cast<unsigned>(code));
  return digits;
}

std::size_t end_of_line(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

// Three quotes begin a string of several lines.
bool is_multiline(std::string_view text) {
  return text.starts_with(R"(""")") || text.starts_with("'''");
}

// The position after the closing quotes of the string that begins at `at`. A string of several
// lines may end with up to two quotes before the three closing ones.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool multiline = is_multiline(text.substr(at));
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

// Escapes the characters beyond ASCII of a quoted string; nothing if they are not allowed there.
std::optional<std::string> escaped(std::string_view quoted) {
  if (std::none_of(quoted.begin(), quoted.end(), is_beyond_ascii)) return std::string(quoted);
  if (quoted.front() != '"' || is_multiline(quoted)) return std::nullopt;
  std::string ascii;
  for (std::size_t i = 0; i < quoted.size();) {
    const bool is_escape = quoted[i] == '\\' && i + 1 < quoted.size();
    if (is_escape && is_beyond_ascii(quoted[i + 1])) return std::nullopt;
    if (!is_beyond_ascii(quoted[i])) {
      const std::size_t bytes = is_escape ? 2 : 1;
      ascii += quoted.substr(i, bytes);
      i += bytes;
    } else if (const auto character = first_character(quoted.substr(i))) {
      ascii += escape(character->code);
      i += character->bytes;
    } else {
      return std::nullopt;
    }
  }
  return ascii;
}

}  // namespace

std::variant<std::string, RefusedCharacter> ascii_toml(std::string_view text) {
  std::string ascii;
  std::uint32_t line = 1;
  for (std::size_t i = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
       i < text.size();) {
    const char c = text[i];
    std::size_t end = i + 1;
    if (is_beyond_ascii(c)) return RefusedCharacter{line};
    if (c == '#') {
      end = end_of_line(text, i);
      std::replace_copy_if(text.begin() + i, text.begin() + end, std::back_inserter(ascii),
                           is_beyond_ascii, '?');
    } else if (c == '"' || c == '\'') {
      end = end_of_quoted(text, i);
      const auto quoted = escaped(text.substr(i, end - i));
      if (!quoted) return RefusedCharacter{line};
      ascii += *quoted;
    } else {
      ascii += c;
    }
    line += static_cast<std::uint32_t>(std::count(text.begin() + i, text.begin() + end, '\n'));
    i = end;
  }
  return ascii;
}

}  // namespace warpalign::detail

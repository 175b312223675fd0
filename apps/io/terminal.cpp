// Output that only a terminal gets.
#include "io/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace warpalign::program {

bool shows_colours() {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (refused == nullptr || *refused == '\0') &&
         terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string coloured(std::string_view text, Colour colour) {
  if (!shows_colours()) return std::string(text);
  const char* code = colour == Colour::green ? "32" : (colour == Colour::yellow ? "33" : "31");
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string wrapped(std::string_view head, std::string_view text, std::size_t columns) {
  std::string lines(head);
  std::size_t used = head.size();
  bool begins_line = true;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    if (!begins_line && used + 1 + word.size() > columns) {
      lines += '\n';
      lines.append(head.size(), ' ');
      used = head.size();
      begins_line = true;
    }
    if (!begins_line) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += word.size();
    begins_line = false;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines + "\n";
}

}  // namespace warpalign::program

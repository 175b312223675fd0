// Formats the text of --help.
#include "io/terminal.hpp"
#include "options/command_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program {
namespace {

constexpr std::size_t name_columns = 26;

/// A name in the left column and its meaning in the right one. A long name gets its own line.
std::string entry(const std::string& name, const std::string& meaning) {
  const std::string head = fmt::format("  {:<{}}", name, name_columns - 2);
  if (head.size() > name_columns) {
    return "  " + name + "\n" + wrapped(std::string(name_columns, ' '), meaning);
  }
  return wrapped(head, meaning);
}

std::string option_name(const OptionText& option) {
  const std::string name = option.name == "--help" ? "-h, --help" : option.name;
  return option.value.empty() ? name : name + " " + option.value;
}

std::string option_lines(const CommandText& command) {
  std::string text;
  for (const std::string& group : command.groups()) {
    text += group + ":\n";
    for (const OptionText& option : command.options_of(group)) {
      text += entry(option_name(option), option.description);
    }
    text += "\n";
  }
  return text;
}

std::string command_lines(const CommandText& command) {
  std::vector<std::string> groups;
  for (const CommandText& one : command.commands) {
    if (std::find(groups.begin(), groups.end(), one.group) == groups.end()) {
      groups.push_back(one.group);
    }
  }
  std::string text;
  for (const std::string& group : groups) {
    text += group + ":\n";
    for (const CommandText& one : command.commands) {
      if (one.group == group) text += entry(one.last_name(), one.summary);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string help_text(const CommandText& command) {
  return command.summary + ".\n\n" + wrapped("Usage: ", usage_of(command)) + "\n" +
         command_lines(command) + option_lines(command) + command.notes;
}

}  // namespace warpalign::program

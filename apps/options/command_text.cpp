// The description of the command line.
#include "options/command_text.hpp"

#include <algorithm>

namespace warpalign::program {

ValueKind kind_of(const OptionText& option) {
  if (!option.suggestions.empty()) return ValueKind::suggestions;
  const std::string& what = option.is_argument ? option.name : option.value;
  if (what.find("FOLDER") != std::string::npos) return ValueKind::folders;
  return option.is_argument || what.find("FILE") != std::string::npos ? ValueKind::files
                                                                      : ValueKind::text;
}

std::string CommandText::last_name() const { return name.substr(name.rfind(' ') + 1); }

std::vector<std::string> CommandText::groups() const {
  std::vector<std::string> titles;
  for (const OptionText& option : options) {
    if (std::find(titles.begin(), titles.end(), option.group) == titles.end()) {
      titles.push_back(option.group);
    }
  }
  return titles;
}

std::vector<OptionText> CommandText::options_of(const std::string& title) const {
  std::vector<OptionText> found;
  std::copy_if(options.begin(), options.end(), std::back_inserter(found),
               [&](const OptionText& option) { return option.group == title; });
  return found;
}

std::string usage_of(const CommandText& command) {
  std::string usage = command.name + (command.commands.empty() ? " [OPTIONS]" : " COMMAND ...");
  for (const OptionText& option : command.options) {
    if (!option.is_argument) continue;
    const std::string name = option.name + (option.repeats ? "..." : "");
    usage += option.required ? " " + name : " [" + name + "]";
  }
  return usage;
}

std::string page_name(const CommandText& command) {
  std::string name = command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

}  // namespace warpalign::program

// Commands and their options, by CLI11.
#include "options/command_line.hpp"

#include "io/usage_error.hpp"

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <type_traits>

namespace warpalign::program {

CommandLine::CommandLine(const std::string& name, const std::string& description)
    : program_(std::make_unique<CLI::App>(description, name)) {
  program_->require_subcommand(0, 1);  // an argument may be called as another command
}

CommandLine::~CommandLine() = default;

std::string CommandLine::command_names() const {
  std::string names;
  for (const CLI::App* command : program_->get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return names;
}

void CommandLine::set_version(const std::string& text) {
  program_->set_version_flag("--version", text);
}

bool CommandLine::parse(int argc, char** argv) {
  try {
    program_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      throw UsageError(fmt::format("{}; see '{} --help'", error.what(), program_->get_name()));
    }
    program_->exit(error);  // prints --help or --version
    return false;
  }
  return true;
}

CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& description) {
  return *parent.add_subcommand(name, description);
}

void add_option(CLI::App& command, const std::string& name, const OptionValue& value,
                const std::string& description, const OptionTraits& traits) {
  CLI::Option* option = std::visit(
      [&](auto* target) -> CLI::Option* {
        if constexpr (std::is_same_v<decltype(target), bool*>) {
          return command.add_flag(name, *target, description);
        } else {
          return command.add_option(name, *target, description);
        }
      },
      value);
  option->required(traits.required);
  if (traits.comma_list) option->delimiter(',');
  if (traits.shows_default) option->capture_default_str();
  if (traits.hidden) option->group("");
}

void set_footer(CLI::App& command, const std::string& footer) { command.footer(footer); }

void set_action(CLI::App& command, Action& chosen, const Action& action) {
  command.callback([&command, &chosen, action] {
    if (command.get_subcommands().empty()) chosen = action;
  });
}

}  // namespace warpalign::program

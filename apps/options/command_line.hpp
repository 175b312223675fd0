// Declares commands and their options. Only command_line.cpp includes CLI11: this header-only
// library adds many seconds to the compilation of a source.
#pragma once

#include "options/action.hpp"
#include "options/command_text.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace warpalign::program {

/// Where an option's value goes.
using OptionValue =
    std::variant<bool*, int*, double*, std::string*, std::optional<int>*, std::optional<double>*,
                 std::optional<std::string>*, std::vector<std::string>*>;

struct OptionTraits {
  bool required = false;
  bool shows_default = false;    ///< --help shows the variable's value at declaration
  bool comma_list = false;       ///< several values, separated by commas
  bool hidden = false;           ///< --help does not list it
  const char* suggestions = "";  ///< values for shell completion, separated by blanks
};

inline constexpr OptionTraits required{true, false, false};
inline constexpr OptionTraits with_default{false, true, false};
inline constexpr OptionTraits comma_list{false, false, true};
inline constexpr OptionTraits comma_list_with_default{false, true, true};
inline constexpr OptionTraits hidden{false, false, false, true};

/// The same traits with values for shell completion.
[[nodiscard]] constexpr OptionTraits suggesting(const char* values, OptionTraits traits = {}) {
  traits.suggestions = values;
  return traits;
}

/// The program's command line.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  /// The CLI11 program to which commands are added.
  [[nodiscard]] CLI::App& program() noexcept { return *program_; }
  /// The names of all commands, separated by commas.
  [[nodiscard]] std::string command_names() const;
  /// Adds --version, which prints this text.
  void set_version(const std::string& text);
  /// Sets the options' values and chooses the action. If the user gave --help or --version, prints
  /// it and returns false. Throws UsageError.
  [[nodiscard]] bool parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> program_;
};

/// Adds a subcommand to the program or to a command. --help lists the commands of a group together.
[[nodiscard]] CLI::App& add_command(CLI::App& parent, const std::string& name,
                                    const std::string& description,
                                    const std::string& group = "Commands");
/// Sets the heading under which --help lists the options that are added next.
void begin_group(CLI::App& command, const std::string& title);
/// Adds an option ("--name VALUE") or a positional argument ("NAME"). A bool makes a flag. `value`
/// must outlive the command.
void add_option(CLI::App& command, const std::string& name, const OptionValue& value,
                const std::string& description, const OptionTraits& traits = {});
/// Adds --max-pixels, for commands that read images or arrays.
void add_limit_options(CLI::App& command);
/// Adds --quiet and --verbose, for commands that print messages.
void add_message_options(CLI::App& command);
/// Sets the text at the end of --help.
void set_footer(CLI::App& command, const std::string& footer);
/// Ignores undeclared options and arguments instead of refusing them.
void accept_any_arguments(CLI::App& command);
/// Sets `chosen` to `action` if the user names the command without one of its subcommands.
void set_action(CLI::App& command, Action& chosen, const Action& action);

/// Describes the command, its options and its subcommands, except hidden ones.
[[nodiscard]] CommandText describe(const CLI::App& command);

}  // namespace warpalign::program

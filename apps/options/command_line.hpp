// Declares commands and their options. CLI11 is confined to command_line.cpp, because every source
// that includes this header-only library takes many seconds longer to compile.
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
  bool shows_default = false;    ///< --help shows the value that it has when the option is added
  bool comma_list = false;       ///< several values, separated by commas
  bool hidden = false;           ///< --help does not name it
  const char* suggestions = "";  ///< values that a shell may offer, with blanks between them
};

inline constexpr OptionTraits required{true, false, false};
inline constexpr OptionTraits with_default{false, true, false};
inline constexpr OptionTraits comma_list{false, false, true};
inline constexpr OptionTraits comma_list_with_default{false, true, true};
inline constexpr OptionTraits hidden{false, false, false, true};

/// The same, with values that a shell may offer.
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

  /// What commands are added to.
  [[nodiscard]] CLI::App& program() noexcept { return *program_; }
  /// The names of all commands, with commas between them.
  [[nodiscard]] std::string command_names() const;
  /// Adds --version, which prints this text.
  void set_version(const std::string& text);
  /// Sets the options' values and chooses the action. Prints --help or --version and returns false
  /// where these are asked for. Throws UsageError.
  [[nodiscard]] bool parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> program_;
};

/// A subcommand of the program or of a command. The program lists those of a group together.
[[nodiscard]] CLI::App& add_command(CLI::App& parent, const std::string& name,
                                    const std::string& description,
                                    const std::string& group = "Commands");
/// The heading under which --help lists the options that are added from now on.
void begin_group(CLI::App& command, const std::string& title);
/// "--name VALUE" is an option and NAME an argument; a bool is set by a flag. `value` must outlive
/// the command.
void add_option(CLI::App& command, const std::string& name, const OptionValue& value,
                const std::string& description, const OptionTraits& traits = {});
/// Adds --max-pixels, for commands that read images or arrays.
void add_limit_options(CLI::App& command);
/// Adds --quiet and --verbose, for commands that have something to say about their work.
void add_message_options(CLI::App& command);
/// The text at the end of --help.
void set_footer(CLI::App& command, const std::string& footer);
/// Leaves options and arguments that the command does not declare unread, instead of refusing them.
void accept_any_arguments(CLI::App& command);
/// Sets `chosen` to `action` when the command was named, and none of its own commands.
void set_action(CLI::App& command, Action& chosen, const Action& action);

/// The command with all its options, and the commands below it, but for what is hidden.
[[nodiscard]] CommandText describe(const CLI::App& command);

}  // namespace warpalign::program

// The command line in words: what --help, the manual pages and shell completion are made from.
#pragma once

#include <string>
#include <vector>

namespace warpalign::program {

/// An option ("--device NAME") or an argument ("REFERENCE").
struct OptionText {
  std::string name;         ///< "--device", or "REFERENCE"
  std::string value;        ///< "NAME"; empty for flags and arguments
  std::string description;  ///< with its default in brackets
  std::string group;        ///< the heading under which it stands
  bool is_argument = false;
  bool required = false;
  bool repeats = false;                  ///< takes several values
  std::vector<std::string> suggestions;  ///< values that a shell may offer
};

/// What may be given as a value, as far as a shell can help.
enum class ValueKind { files, folders, suggestions, text };
[[nodiscard]] ValueKind kind_of(const OptionText& option);

struct CommandText {
  std::string name;     ///< "warpalign register"
  std::string summary;  ///< one sentence without its full stop
  std::string group;    ///< the heading under which the program lists it
  std::string notes;    ///< what follows the options: paragraphs, and the examples at the end
  std::vector<OptionText> options;
  std::vector<CommandText> commands;

  /// "register".
  [[nodiscard]] std::string last_name() const;
  /// The headings of its options, in their order, and the options below one of them.
  [[nodiscard]] std::vector<std::string> groups() const;
  [[nodiscard]] std::vector<OptionText> options_of(const std::string& group) const;
};

/// "warpalign register [OPTIONS] REFERENCE MOVING".
[[nodiscard]] std::string usage_of(const CommandText& command);

/// What --help prints, in at most 100 columns.
[[nodiscard]] std::string help_text(const CommandText& command);

/// The command's manual page in the language of man(7).
[[nodiscard]] std::string man_page(const CommandText& command, const std::string& version);
/// The pages' names without the section, "warpalign-register": the command's own, then those below
/// it.
[[nodiscard]] std::string page_name(const CommandText& command);

/// A script for "bash", "zsh" or "fish"; empty for any other shell.
[[nodiscard]] std::string completion_script(const CommandText& program, const std::string& shell);

}  // namespace warpalign::program

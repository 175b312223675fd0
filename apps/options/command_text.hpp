// The description of the command line, from which --help, the manual pages and the completion
// scripts are generated.
#pragma once

#include <string>
#include <vector>

namespace warpalign::program {

/// An option ("--device NAME") or an argument ("REFERENCE").
struct OptionText {
  std::string name;         ///< "--device", or "REFERENCE"
  std::string value;        ///< "NAME"; empty for flags and arguments
  std::string description;  ///< with its default in brackets
  std::string group;        ///< its heading in --help
  bool is_argument = false;
  bool required = false;
  bool repeats = false;                  ///< takes several values
  std::vector<std::string> suggestions;  ///< values for shell completion
};

/// What a shell may offer as a value.
enum class ValueKind { files, folders, suggestions, text };
[[nodiscard]] ValueKind kind_of(const OptionText& option);

struct CommandText {
  std::string name;     ///< "warpalign register"
  std::string summary;  ///< one sentence without the full stop
  std::string group;    ///< its heading in the program's --help
  std::string notes;    ///< the text after the options: paragraphs, then examples
  std::vector<OptionText> options;
  std::vector<CommandText> commands;

  /// "register".
  [[nodiscard]] std::string last_name() const;
  /// The headings of the options in order, and the options under one heading.
  [[nodiscard]] std::vector<std::string> groups() const;
  [[nodiscard]] std::vector<OptionText> options_of(const std::string& group) const;
};

/// The usage line: "warpalign register [OPTIONS] REFERENCE MOVING".
[[nodiscard]] std::string usage_of(const CommandText& command);

/// What --help prints, in at most 100 columns.
[[nodiscard]] std::string help_text(const CommandText& command);

/// The command's manual page in the language of man(7).
[[nodiscard]] std::string man_page(const CommandText& command, const std::string& version);
/// The name of the command's manual page without the section: "warpalign-register".
[[nodiscard]] std::string page_name(const CommandText& command);

/// The completion script for "bash", "zsh" or "fish"; empty for any other shell.
[[nodiscard]] std::string completion_script(const CommandText& program, const std::string& shell);

}  // namespace warpalign::program

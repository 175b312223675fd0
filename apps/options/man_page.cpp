// Generates manual pages in the language of man(7).
#include "options/command_text.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

namespace warpalign::program {
namespace {

/// Escapes hyphens, so that a reader can copy them, and a leading dot or an apostrophe, which
/// would start a request.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else {
      result += c;
    }
  }
  if (result.starts_with('.')) result.insert(0, "\\&");
  return result;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Converts the notes of --help: paragraphs, indented lines (set verbatim), and the sections for
/// the exit status and the examples.
class Notes {
 public:
  explicit Notes(const std::string& notes) {
    for (const std::string& line : lines_of(notes)) take(line);
    end_verbatim();
  }

  std::string text, exit_status, examples;

 private:
  void take(const std::string& line) {
    if (line.empty()) {
      end_verbatim();
      begins_paragraph_ = true;
      return;
    }
    if (line == "Examples:") return begin(examples);
    constexpr std::string_view status = "Exit status: ";
    if (line.starts_with(status)) {
      begin(exit_status);
      return add(line.substr(status.size()));
    }
    if (begins_paragraph_ && part_ == &exit_status) part_ = &text;
    add(line);
  }

  void begin(std::string& part) {
    end_verbatim();
    part_ = &part;
    begins_paragraph_ = false;
  }

  void add(const std::string& line) {
    const bool is_verbatim = line.starts_with("  ");
    if (!is_verbatim) end_verbatim();
    if (begins_paragraph_ && !part_->empty()) *part_ += ".PP\n";
    begins_paragraph_ = false;
    if (is_verbatim && !verbatim_) *part_ += ".nf\n";
    verbatim_ = is_verbatim;
    *part_ += escaped(line) + "\n";
  }

  void end_verbatim() {
    if (verbatim_) *part_ += ".fi\n";
    verbatim_ = false;
  }

  std::string* part_ = &text;
  bool begins_paragraph_ = false;
  bool verbatim_ = false;
};

std::string option_entries(const CommandText& command) {
  std::string text;
  for (const std::string& group : command.groups()) {
    text += fmt::format(".SS {}\n", escaped(group));
    for (const OptionText& option : command.options_of(group)) {
      const std::string name = option.name == "--help" ? "-h, --help" : option.name;
      text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", escaped(name),
                          option.value.empty() ? "" : " \\fI" + escaped(option.value) + "\\fR",
                          escaped(option.description));
    }
  }
  return text;
}

std::string command_entries(const CommandText& command) {
  if (command.commands.empty()) return {};
  std::string text = ".SH COMMANDS\n";
  for (const CommandText& one : command.commands) {
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}.\n", escaped(page_name(one)), escaped(one.summary));
  }
  return text;
}

constexpr const char* environment =
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBWARPALIGN_DEVICE\\fR\n"
    "The device to use if \\fB\\-\\-device\\fR is not given.\n"
    ".TP\n\\fBWARPALIGN_MAX_DEVICE_MEMORY\\fR\n"
    "The most device memory that \\fBresample\\fR uses, in bytes (800M, 4G).\n"
    ".TP\n\\fBXDG_CACHE_HOME\\fR\n"
    "Compiled kernels are stored in its folder warpalign. The default is ~/.cache.\n"
    ".TP\n\\fBXDG_CONFIG_HOME\\fR\n"
    "The configuration is its file warpalign/warpalign.toml. The default is ~/.config.\n"
    ".TP\n\\fBNO_COLOR\\fR\n"
    "If it is set, output has no colours.\n";

std::string see_also(const CommandText& command) {
  if (!command.commands.empty()) return {};
  const std::string parent = command.name.substr(0, command.name.rfind(' '));
  return fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n",
                     escaped(page_name({parent, {}, {}, {}, {}, {}})));
}

std::string section(const char* title, const std::string& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n{}", title, text);
}

}  // namespace

std::string man_page(const CommandText& command, const std::string& version) {
  std::string title = page_name(command);
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const Notes notes(command.notes);
  return fmt::format(".TH {} 1 \"\" \"warpalign {}\" \"User Commands\"\n", escaped(title),
                     version) +
         fmt::format(".SH NAME\n{} \\- {}\n", escaped(page_name(command)),
                     escaped(command.summary)) +
         fmt::format(".SH SYNOPSIS\n\\fB{}\\fR{}\n", escaped(command.name),
                     escaped(usage_of(command).substr(command.name.size()))) +
         section("DESCRIPTION", escaped(command.summary) + ".\n" +
                                    (notes.text.empty() ? "" : ".PP\n" + notes.text)) +
         command_entries(command) + section("OPTIONS", option_entries(command)) +
         section("EXIT STATUS", notes.exit_status) + environment +
         section("EXAMPLES", notes.examples) + see_also(command);
}

}  // namespace warpalign::program

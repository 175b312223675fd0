// Declares commands and their options with CLI11.
#include "options/command_line.hpp"

#include "io/input_limits.hpp"
#include "io/messages.hpp"
#include "io/usage_error.hpp"

#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <map>
#include <sstream>
#include <type_traits>

namespace warpalign::program {
namespace {

constexpr const char* message_group = "Messages";

/// Values for shell completion, which CLI11 cannot store with an option.
std::map<const CLI::Option*, std::vector<std::string>>& suggestions() {
  static std::map<const CLI::Option*, std::vector<std::string>> all;
  return all;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

template <class Target>
constexpr bool is_integer =
    std::is_same_v<Target, int*> || std::is_same_v<Target, std::optional<int>*>;
template <class Target>
constexpr bool is_real =
    std::is_same_v<Target, double*> || std::is_same_v<Target, std::optional<double>*>;

/// The placeholder for a value in --help if the declaration names none.
template <class Target>
const char* usual_value_name() {
  if constexpr (std::is_same_v<Target, bool*>) {
    return "";
  } else if constexpr (is_integer<Target>) {
    return "N";
  } else if constexpr (is_real<Target>) {
    return "NUMBER";
  } else {
    return "TEXT";
  }
}

// CLI11 would read an empty value, such as an unset shell variable, as 0 or as not given.
std::string is_given(const std::string& text) { return text.empty() ? "needs a number" : ""; }

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  text.is_argument = option.get_positional();
  text.name = text.is_argument ? option.get_name(true) : "--" + option.get_lnames().at(0);
  text.value = text.is_argument ? "" : option.get_type_name();
  text.description = option.get_description();
  if (!option.get_default_str().empty()) {
    text.description += fmt::format(" [{}]", option.get_default_str());
  }
  text.group = text.is_argument ? "Arguments" : option.get_group();
  text.required = option.get_required();
  text.repeats = option.get_items_expected_max() > 1;
  const auto offered = suggestions().find(&option);
  if (offered != suggestions().end()) text.suggestions = offered->second;
  return text;
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

/// The command that the user named, or the program if there is none.
const CLI::App& named_command(const CLI::App& program) {
  const std::vector<CLI::App*> named = program.get_subcommands();
  return named.empty() ? program : named_command(*named.back());
}

bool is_last(const OptionText& option) { return option.group == message_group; }

}  // namespace

CommandLine::CommandLine(const std::string& name, const std::string& description)
    : program_(std::make_unique<CLI::App>(description, name)) {
  program_->require_subcommand(0, 1);  // an argument may have a command's name
  program_->set_help_flag("-h,--help", "Print this help")->group(message_group);
  program_->formatter_fn([](const CLI::App* command, const std::string&, CLI::AppFormatMode) {
    return help_text(describe(*command));
  });
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
  program_->set_version_flag("--version", text, "Print the version")->group(message_group);
}

bool CommandLine::parse(int argc, char** argv) {
  try {
    program_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      throw UsageError(
          fmt::format("{}; see '{} --help'", error.what(), full_name(named_command(*program_))));
    }
    program_->exit(error);  // prints --help or --version
    return false;
  }
  return true;
}

CLI::App& add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& group) {
  CLI::App& command = *parent.add_subcommand(name, description)->group(group);
  command.get_help_ptr()->group(message_group);
  begin_group(command, "Options");
  return command;
}

void begin_group(CLI::App& command, const std::string& title) {
  command.option_defaults()->group(title);
}

void add_option(CLI::App& command, const std::string& name, const OptionValue& value,
                const std::string& description, const OptionTraits& traits) {
  const std::size_t blank = name.find(' ');
  const std::string bare = name.substr(0, blank);
  CLI::Option* option = std::visit(
      [&](auto* target) -> CLI::Option* {
        using Target = decltype(target);
        if constexpr (std::is_same_v<Target, bool*>) {
          return command.add_flag(bare, *target, description);
        } else {
          CLI::Option* added = command.add_option(bare, *target, description);
          added->type_name(blank == std::string::npos ? usual_value_name<Target>()
                                                      : name.substr(blank + 1));
          if constexpr (is_integer<Target> || is_real<Target>) added->check(is_given);
          return added;
        }
      },
      value);
  option->required(traits.required);
  if (traits.comma_list) option->delimiter(',');
  if (traits.shows_default) option->capture_default_str();
  if (traits.shows_default && traits.comma_list) {  // as typed, without CLI11's brackets
    const std::string list = option->get_default_str();
    option->default_str(list.substr(1, list.size() - 2));
  }
  if (traits.hidden) option->group("");
  if (*traits.suggestions != '\0') suggestions()[option] = words_of(traits.suggestions);
}

void add_limit_options(CLI::App& command) {
  constexpr std::int64_t largest = std::int64_t{1} << 40;
  begin_group(command, "Limits");
  command
      .add_option_function<std::int64_t>(
          "--max-pixels", set_max_pixels,
          "Refuse images, frames and arrays with more pixels, before allocating memory for them")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, largest).description(""));
}

void add_message_options(CLI::App& command) {
  const auto setting = [](Verbosity chosen) {
    return [chosen](std::int64_t) { set_verbosity(chosen); };
  };
  CLI::Option* quiet = command
                           .add_flag_function("--quiet", setting(Verbosity::quiet),
                                              "Print only errors and the output of --json")
                           ->group(message_group);
  command
      .add_flag_function("--verbose", setting(Verbosity::verbose),
                         "Report each step on standard error")
      ->group(message_group)
      ->excludes(quiet);
}

void set_footer(CLI::App& command, const std::string& footer) { command.footer(footer); }

void accept_any_arguments(CLI::App& command) { command.allow_extras(); }

void set_action(CLI::App& command, Action& chosen, const Action& action) {
  command.callback([&command, &chosen, action] {
    if (command.get_subcommands().empty()) chosen = action;
  });
}

CommandText describe(const CLI::App& command) {
  CommandText text;
  text.name = full_name(command);
  text.summary = command.get_description();
  text.group = command.get_group();
  text.notes = command.get_footer();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || !option->get_group().empty()) {
      text.options.push_back(text_of(*option));
    }
  }
  const auto rank = [](const OptionText& option) {
    return option.is_argument ? 0 : (is_last(option) ? 2 : 1);
  };
  std::stable_sort(text.options.begin(), text.options.end(),
                   [&](const OptionText& a, const OptionText& b) { return rank(a) < rank(b); });
  for (const CLI::App* one : command.get_subcommands({})) {
    if (!one->get_group().empty()) text.commands.push_back(describe(*one));
  }
  return text;
}

}  // namespace warpalign::program

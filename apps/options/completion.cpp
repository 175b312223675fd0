// Generates completion scripts for shells.
#include "options/command_text.hpp"

#include <fmt/format.h>

namespace warpalign::program {
namespace {

/// The command, followed by its subcommands at every depth.
std::vector<const CommandText*> all_commands(const CommandText& command) {
  std::vector<const CommandText*> commands{&command};
  for (const CommandText& one : command.commands) {
    const auto below = all_commands(one);
    commands.insert(commands.end(), below.begin(), below.end());
  }
  return commands;
}

void append_word(std::string& list, const std::string& word) {
  if (!list.empty()) list += ' ';
  list += word;
}

std::string command_names(const CommandText& command) {
  std::string names;
  for (const CommandText& one : command.commands) append_word(names, one.last_name());
  return names;
}

/// The words that may follow a command: its subcommands, or the values of its arguments.
std::string words_of_arguments(const CommandText& command) {
  std::string words = command_names(command);
  for (const OptionText& option : command.options) {
    if (option.is_argument && kind_of(option) == ValueKind::suggestions) {
      words += fmt::format("{}", fmt::join(option.suggestions, " "));
    }
  }
  return words;
}

std::string option_names(const CommandText& command) {
  std::string names;
  for (const OptionText& option : command.options) {
    if (!option.is_argument) append_word(names, option.name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

/// The text in single quotes, valid in every shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// --- bash

/// Cases that extend $path by a subcommand: "warpalign experiment zoom".
std::string bash_command_search(const CommandText& program) {
  std::string cases;
  for (const CommandText* command : all_commands(program)) {
    for (const CommandText& one : command->commands) {
      cases +=
          fmt::format("      '{} {}') path='{}' ;;\n", command->name, one.last_name(), one.name);
    }
  }
  return cases;
}

std::string bash_values(const OptionText& option) {
  switch (kind_of(option)) {
    case ValueKind::suggestions:
      return fmt::format("words={}; kind=words", quoted(joined(option.suggestions)));
    case ValueKind::files:
      return "kind=files";
    case ValueKind::folders:
      return "kind=folders";
    case ValueKind::text:
      break;
  }
  return "kind=none";
}

std::string bash_command_cases(const CommandText& program) {
  std::string cases;
  for (const CommandText* command : all_commands(program)) {
    cases +=
        fmt::format("    '{}')\n      options='{}'\n      commands='{}'\n      case $previous in\n",
                    command->name, option_names(*command), words_of_arguments(*command));
    for (const OptionText& option : command->options) {
      if (!option.value.empty()) {
        cases += fmt::format("        {}) {} ;;\n", option.name, bash_values(option));
      }
    }
    cases += "      esac ;;\n";
  }
  return cases;
}

std::string bash_script(const CommandText& program) {
  return fmt::format(
      R"(# bash completion for warpalign: 'warpalign completion bash' prints it.
_warpalign() {{
  local current previous path word words options commands kind
  current=${{COMP_WORDS[COMP_CWORD]}}
  previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  # Bash splits opencl:pocl at the colon; join it into one word again.
  if [[ $COMP_WORDBREAKS == *:* ]]; then
    if [[ $current == : && $COMP_CWORD -ge 2 ]]; then
      previous=${{COMP_WORDS[COMP_CWORD - 2]}} current=${{COMP_WORDS[COMP_CWORD - 1]}}:
    elif [[ $previous == : && $COMP_CWORD -ge 3 ]]; then
      previous=${{COMP_WORDS[COMP_CWORD - 3]}} current=${{COMP_WORDS[COMP_CWORD - 2]}}:$current
    fi
  fi
  path=warpalign
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$path $word" in
{}    esac
  done
  words='' options='' commands='' kind=''
  case $path in
{}  esac
  COMPREPLY=()
  case $kind in
    words) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    none) return ;;
    folders)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      ;;
    files)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      ;;
    *)
      if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
      elif [[ -n $commands ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
      else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      fi
      ;;
  esac
  # The text before the last colon is already on the command line.
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${{COMPREPLY[@]#"${{current%"${{current##*:}}"}}"}}")
  fi
}}
complete -F _warpalign warpalign
)",
      bash_command_search(program), bash_command_cases(program));
}

// --- zsh

/// Escapes the characters that have a meaning in a specification of zsh's _arguments.
std::string zsh_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const OptionText& option) {
  switch (kind_of(option)) {
    case ValueKind::suggestions: {
      std::string words;
      for (const std::string& word : option.suggestions) append_word(words, zsh_escaped(word));
      return "(" + words + ")";
    }
    case ValueKind::files:
      return "_files";
    case ValueKind::folders:
      return "_files -/";
    case ValueKind::text:
      break;
  }
  return " ";
}

std::string zsh_option(const OptionText& option) {
  const std::string what = zsh_escaped(option.description);
  if (option.is_argument) {
    return quoted(fmt::format("{}:{}:{}", option.repeats ? "*" : (option.required ? "" : ":"),
                              zsh_escaped(option.name), zsh_action(option)));
  }
  if (option.value.empty()) return quoted(fmt::format("{}[{}]", option.name, what));
  return quoted(fmt::format("{}[{}]:{}:{}", option.name, what, zsh_escaped(option.value),
                            zsh_action(option)));
}

std::string zsh_function_name(const CommandText& command) {
  std::string name = page_name(command);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return fmt::format("_{}", name);
}

std::string zsh_function(const CommandText& command) {
  std::string text = zsh_function_name(command) + "() {\n";
  if (command.commands.empty()) {
    text += "  _arguments -s";
    for (const OptionText& option : command.options) text += " \\\n    " + zsh_option(option);
    return text + "\n}\n";
  }
  text += "  local line state\n  _arguments -C";
  for (const OptionText& option : command.options) text += " \\\n    " + zsh_option(option);
  text += " \\\n    '1: :->command' \\\n    '*:: :->arguments'\n  case $state in\n    command)\n";
  text += "      local -a commands\n      commands=(\n";
  for (const CommandText& one : command.commands) {
    text += "        " + quoted(one.last_name() + ":" + zsh_escaped(one.summary)) + "\n";
  }
  text += "      )\n      _describe command commands ;;\n    arguments)\n      case $line[1] in\n";
  for (const CommandText& one : command.commands) {
    text += fmt::format("        {}) {} ;;\n", one.last_name(), zsh_function_name(one));
  }
  return text + "      esac ;;\n  esac\n}\n";
}

std::string zsh_script(const CommandText& program) {
  std::string text =
      "#compdef warpalign\n# zsh completion for warpalign: 'warpalign completion zsh' prints it.\n";
  for (const CommandText* command : all_commands(program)) {
    text += fmt::format("\n{}", zsh_function(*command));
  }
  return text +
         "\nif [[ $funcstack[1] == _warpalign ]]; then\n  _warpalign \"$@\"\nelse\n"
         "  compdef _warpalign warpalign\nfi\n";
}

// --- fish

/// A condition that holds after this command and before any of its subcommands.
std::string fish_condition(const CommandText& command) {
  std::string condition;
  const std::size_t blank = command.name.find(' ');
  if (blank != std::string::npos) {
    std::string words = command.name.substr(blank + 1);
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t end = words.find(' ', at);
      condition += (condition.empty() ? "" : "; and ") +
                   std::string("__fish_seen_subcommand_from ") +
                   words.substr(at, end == std::string::npos ? end : end - at);
      at = end == std::string::npos ? end : end + 1;
    }
  }
  if (command.commands.empty()) return condition;
  return condition + (condition.empty() ? "" : "; and ") + "not __fish_seen_subcommand_from " +
         command_names(command);
}

std::string fish_values(const OptionText& option) {
  switch (kind_of(option)) {
    case ValueKind::suggestions:
      return " -x -a " + quoted(joined(option.suggestions));
    case ValueKind::files:
      return " -r -F";
    case ValueKind::folders:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::text:
      break;
  }
  return " -x";
}

std::string fish_lines(const CommandText& command) {
  const std::string head = "complete -c warpalign -n " + quoted(fish_condition(command));
  std::string text;
  for (const CommandText& one : command.commands) {
    text += fmt::format("{} -f -a {} -d {}\n", head, one.last_name(), quoted(one.summary));
  }
  for (const OptionText& option : command.options) {
    if (!option.is_argument) {
      text +=
          fmt::format("{} -l {}{} -d {}\n", head, option.name.substr(2),
                      option.value.empty() ? "" : fish_values(option), quoted(option.description));
    } else if (kind_of(option) == ValueKind::suggestions) {
      text += fmt::format("{} -f -a {}\n", head, quoted(joined(option.suggestions)));
    }
  }
  return text;
}

std::string fish_script(const CommandText& program) {
  std::string text = "# fish completion for warpalign: 'warpalign completion fish' prints it.\n";
  for (const CommandText* command : all_commands(program)) text += fish_lines(*command);
  return text;
}

}  // namespace

std::string completion_script(const CommandText& program, const std::string& shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  return {};
}

}  // namespace warpalign::program

// `warpalign completion` and `warpalign man`: shell completion and manual pages, generated from the
// same declarations as --help.
#include "commands/commands.hpp"
#include "io/atomic_file.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"

#include <warpalign/version.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

namespace warpalign::program {
namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

// --- completion

ExitStatus print_completion(const CLI::App& program, const std::string& shell) {
  const std::string script = completion_script(describe(program), shell);
  if (script.empty()) {
    throw UsageError(
        fmt::format("invalid value '{}' for SHELL (choose from: bash, zsh, fish)", shell));
  }
  fmt::print("{}", script);
  return ExitStatus::ok;
}

constexpr const char* completion_footer =
    "Packages install these scripts. If you built warpalign yourself, write the script to the\n"
    "folder that your shell searches, or source it at startup.\n"
    "\n"
    "Examples:\n"
    "  source <(warpalign completion bash)\n"
    "  warpalign completion zsh > ~/.zfunc/_warpalign\n"
    "  warpalign completion fish > ~/.config/fish/completions/warpalign.fish\n";

// --- man

struct ManOptions {
  std::vector<std::string> command;
  std::optional<std::string> folder;
};

const CommandText& find_command(const CommandText& program, const std::vector<std::string>& names) {
  const CommandText* found = &program;
  for (const std::string& name : names) {
    const CommandText* next = nullptr;
    for (const CommandText& one : found->commands) {
      if (one.last_name() == name) next = &one;
    }
    if (next == nullptr) {
      throw UsageError(fmt::format("{}: is not a command of {}", name, found->name));
    }
    found = next;
  }
  return *found;
}

void write_pages(const CommandText& command, const std::filesystem::path& folder) {
  write_file(folder / (page_name(command) + ".1"), man_page(command, version()));
  for (const CommandText& one : command.commands) write_pages(one, folder);
}

ExitStatus print_man(const CLI::App& program, const ManOptions& options) {
  const CommandText& text = describe(program);
  const CommandText& command = find_command(text, options.command);
  if (!options.folder) {
    fmt::print("{}", man_page(command, version()));
    return ExitStatus::ok;
  }
  std::error_code failed;
  std::filesystem::create_directories(*options.folder, failed);
  write_pages(command, *options.folder);
  return ExitStatus::ok;
}

constexpr const char* man_footer =
    "Without COMMAND, prints the page of the program itself.\n"
    "\n"
    "Examples:\n"
    "  warpalign man register | man -l -\n"
    "  warpalign man experiment zoom\n"
    "  warpalign man --output-folder ~/.local/share/man/man1\n";

}  // namespace

void add_completion_command(CLI::App& program, Action& chosen) {
  CLI::App& command =
      add_command(program, "completion", "Print a completion script for a shell", "This program");
  auto shell = std::make_shared<std::string>();
  add_option(command, "SHELL", shell.get(), "bash, zsh or fish",
             suggesting("bash zsh fish", required));
  set_footer(command, completion_footer);
  set_action(command, chosen, [&program, shell] { return print_completion(program, *shell); });
}

void add_man_command(CLI::App& program, Action& chosen) {
  CLI::App& command =
      add_command(program, "man", "Print the manual page of a command", "This program");
  auto options = std::make_shared<ManOptions>();
  std::string names;
  for (const CommandText& one : describe(program).commands) names += one.last_name() + " ";
  add_option(command, "COMMAND", &options->command, "The command, such as register",
             suggesting(names.c_str()));
  add_option(command, "--output-folder FOLDER", &options->folder,
             "Write the pages of the command and its subcommands to this folder");
  set_footer(command, man_footer);
  set_action(command, chosen, [&program, options] { return print_man(program, *options); });
}

}  // namespace warpalign::program

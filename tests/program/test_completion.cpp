// Shell completion and manual pages.
#include "program/all_commands.hpp"
#include "program/run_program.hpp"
#include "program/run_shell.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace warpalign::test {
namespace {

/// The completions of bash for the last word of a command line.
std::set<std::string> bash_offers(const std::string& line) {
  const ScratchFolder folder;
  write_text(folder / "a.png", "");
  std::filesystem::create_directory(folder / "pictures");
  // Split as readline does: at blanks, and each colon is a separate word.
  std::string words;
  for (const char c : line) {
    if (c == ':') {
      words += " : ";
    } else {
      words += c;
    }
  }
  if (line.ends_with(' ')) words += "''";
  const ScratchFolder elsewhere;
  write_text(elsewhere / "script",
             fmt::format("cd '{}'\nsource <('{}' completion bash)\nCOMP_WORDS=({})\n"
                         "COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n_warpalign\n"
                         "printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
                         folder / "", WARPALIGN_PROGRAM, words));
  const ShellOutcome outcome = run_shell("bash '" + elsewhere / "script" + "'");
  CAPTURE(outcome.out);
  CHECK(outcome.status == 0);
  std::istringstream lines(outcome.out);
  std::set<std::string> offers;
  for (std::string offer; std::getline(lines, offer);) offers.insert(offer);
  return offers;
}

bool offers(const std::set<std::string>& all, std::initializer_list<const char*> some) {
  return std::all_of(some.begin(), some.end(), [&](const char* one) { return all.contains(one); });
}

TEST_CASE("bash completes commands, options, values, files and folders") {
  if (!has_program("bash", "bash")) return;
  CHECK(offers(bash_offers("warpalign "), {"register", "doctor", "experiment"}));
  CHECK(bash_offers("warpalign re") ==
        std::set<std::string>{"register", "register-volume", "resample"});
  CHECK(offers(bash_offers("warpalign experiment "), {"zoom", "accuracy", "rotations"}));
  CHECK(offers(bash_offers("warpalign register --"), {"--device", "--json", "--motion"}));
  CHECK_FALSE(bash_offers("warpalign register --").contains("--degree"));
  CHECK(offers(bash_offers("warpalign experiment zoom --"), {"--factor", "--device"}));
  CHECK(bash_offers("warpalign register --motion r") == std::set<std::string>{"rigid", "rotation"});
  CHECK(bash_offers("warpalign register a.png ") == std::set<std::string>{"a.png", "pictures"});
  CHECK(bash_offers("warpalign stack --output-folder ") == std::set<std::string>{"pictures"});
  CHECK(bash_offers("warpalign completion z") == std::set<std::string>{"zsh"});
  CHECK(offers(bash_offers("warpalign man "), {"register", "warm-up"}));
}

TEST_CASE("bash completes device names, which it splits at the colon") {
  if (!has_program("bash", "bash")) return;
  CHECK(offers(bash_offers("warpalign register --device "), {"cuda", "opencl", "opencl:pocl"}));
  CHECK(bash_offers("warpalign register --device opencl:po") == std::set<std::string>{"pocl"});
  CHECK(bash_offers("warpalign register --device cuda:") == std::set<std::string>{"0"});
}

TEST_CASE("zsh accepts its completion, which has every command and option") {
  const Outcome script = run_program({"completion", "zsh"});
  CHECK(script.status == 0);
  CHECK(script.out.starts_with("#compdef warpalign\n"));
  CHECK(script.out.find("'--motion[") != std::string::npos);
  if (!has_program("zsh", "zsh")) return;
  const ScratchFolder folder;
  write_text(folder / "_warpalign", script.out);
  // Registers and loads the completion as zsh does, and checks its syntax.
  const ShellOutcome loaded = run_shell(fmt::format(
      "zsh -f -c 'fpath=({} $fpath); autoload -Uz compinit; compinit -u -D; "
      "print ${{_comps[warpalign]}}; autoload +X _warpalign && zsh -n {}/_warpalign && print read'",
      folder / "", folder / ""));
  CHECK(loaded.out == "_warpalign\nread\n");
}

TEST_CASE("fish completes commands, options and values") {
  const Outcome script = run_program({"completion", "fish"});
  CHECK(script.status == 0);
  if (!has_program("fish", "fish")) return;
  const ScratchFolder folder;
  write_text(folder / "script", script.out);
  const auto offered = [&](const std::string& line) {
    return run_shell(fmt::format("HOME={} fish --no-config -c 'source {}; complete -C \"{}\"'",
                                 folder / "", folder / "script", line))
        .out;
  };
  CHECK(offered("warpalign re").find("register\tFind the rotation") != std::string::npos);
  CHECK(offered("warpalign register --mo").find("--motion") != std::string::npos);
  CHECK(offered("warpalign register --motion r").find("rigid") != std::string::npos);
  CHECK(offered("warpalign experiment ").find("zoom") != std::string::npos);
  CHECK(offered("warpalign register --degr").empty());
}

TEST_CASE("an unknown shell is refused") {
  const Outcome outcome = run_program({"completion", "tcsh"});
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("tcsh") != std::string::npos);
}

TEST_CASE("every command has a manual page, which man and mandoc accept") {
  const ScratchFolder folder;
  REQUIRE(run_program({"man", "--output-folder", folder / "man1"}).status == 0);
  const bool has_man = has_program("man", "man-db");
  const bool has_mandoc = has_program("mandoc", "mandoc");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "man1")) {
    const std::string page = entry.path();
    CAPTURE(page);
    const std::string text = read_text(page);
    for (const char* part : {".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXAMPLES"}) {
      CHECK(text.find(part) != std::string::npos);
    }
    if (has_man) {
      const ShellOutcome shown =
          run_shell("LC_ALL=C.UTF-8 MANWIDTH=80 MANROFFSEQ= man --warnings -E UTF-8 -l -Tutf8 '" +
                    page + "' 2>&1 >/dev/null");
      CHECK(shown.out == "");
    }
    if (has_mandoc) {
      // The page has no date, so that the same source always gives the same page.
      CHECK(run_shell("mandoc -Tlint -Wwarning '" + page + "' | grep -v 'missing date'").out == "");
    }
  }
}

TEST_CASE("the manual page of an unknown command is refused") {
  const Outcome outcome = run_program({"man", "experiment", "nothing"});
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("nothing: is not a command of warpalign experiment") != std::string::npos);
}

}  // namespace
}  // namespace warpalign::test

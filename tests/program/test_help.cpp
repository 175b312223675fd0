// --help of the program and of every command.
#include "program/all_commands.hpp"
#include "program/run_program.hpp"

#include <warpalign/registration_options.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace warpalign::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> help_of(std::vector<std::string> command) {
  command.emplace_back("--help");
  const Outcome outcome = run_program(command);
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  return lines_of(outcome.out);
}

std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    // counts the first byte of each character
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
  }));
}

TEST_CASE("help of every command fits 100 columns") {
  for (const auto& command : all_commands()) {
    for (const std::string& line : help_of(command)) {
      CAPTURE(line);
      CHECK(columns(line) <= 100);
      CHECK(!line.ends_with(' '));
    }
  }
}

TEST_CASE("help of every command opens with one sentence and ends with examples") {
  for (const auto& command : all_commands()) {
    const std::string name =
        fmt::format("warpalign{}{}", command.empty() ? "" : " ", fmt::join(command, " "));
    CAPTURE(name);
    const auto lines = help_of(command);
    REQUIRE(lines.size() > 5);
    CHECK(lines[0].ends_with('.'));
    CHECK(lines[0].find(". ") == std::string::npos);
    CHECK(lines[1].empty());
    CHECK(lines[2].starts_with("Usage: " + name));
    const auto examples = std::find(lines.begin(), lines.end(), "Examples:");
    REQUIRE(examples != lines.end());
    CHECK(lines.end() - examples > 1);
    for (auto line = examples + 1; line != lines.end(); ++line) {
      CAPTURE(*line);
      CHECK(line->starts_with("  "));
      CHECK(line->find(name) != std::string::npos);
    }
  }
}

TEST_CASE("help lists every option under a heading, and explains it") {
  for (const auto& command : all_commands()) {
    bool has_messages = false;
    const auto lines = help_of(command);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      has_messages = has_messages || lines[i] == "Messages:";
      if (has_messages && lines[i].empty()) break;  // then notes follow
      if (!lines[i].starts_with("  --")) continue;
      CAPTURE(lines[i]);
      const std::string meaning =
          columns(lines[i]) > 26 ? lines[i].substr(26) : lines.at(i + 1).substr(26);
      CHECK(meaning.find_first_not_of(' ') == 0);
    }
    CHECK(has_messages);
  }
}

TEST_CASE("help of the register command names every option that the library describes") {
  const auto lines = help_of({"register"});
  for (const RegistrationOptionInfo& info : registration_options()) {
    if (info.program.empty()) continue;
    CAPTURE(std::string(info.program));
    const std::string start = "  " + std::string(info.program);
    CHECK(std::ranges::any_of(lines, [&](const std::string& line) {
      return line == start || line.starts_with(start + " ");
    }));
  }
}

}  // namespace
}  // namespace warpalign::test

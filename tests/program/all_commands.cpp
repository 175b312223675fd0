// The list of the program's commands, from its manual pages.
#include "program/all_commands.hpp"

#include "program/run_program.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace warpalign::test {
namespace {

/// "warpalign experiment zoom" from ".SH SYNOPSIS\n\fBwarpalign experiment zoom\fR [OPTIONS] ...".
std::string name_in(const std::string& page) {
  const std::string before = ".SH SYNOPSIS\n\\fB";
  const std::size_t start = page.find(before);
  REQUIRE(start != std::string::npos);
  const std::size_t begin = start + before.size();
  std::string name;
  for (const char c : page.substr(begin, page.find("\\fR", begin) - begin)) {
    if (c != '\\') name += c;
  }
  return name;
}

}  // namespace

std::vector<std::vector<std::string>> all_commands() {
  const ScratchFolder folder;
  REQUIRE(run_program({"man", "--output-folder", folder / "pages"}).status == 0);
  std::vector<std::vector<std::string>> commands;
  for (const auto& page : std::filesystem::directory_iterator(folder / "pages")) {
    std::istringstream words(name_in(read_text(page.path())));
    std::vector<std::string> command;
    std::string word;
    words >> word;
    CHECK(word == "warpalign");
    while (words >> word) command.push_back(word);
    commands.push_back(command);
  }
  REQUIRE(commands.size() > 10);
  return commands;
}

}  // namespace warpalign::test

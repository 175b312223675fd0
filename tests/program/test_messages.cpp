// --quiet and --verbose, and output that only a terminal gets.
#include "io/status_line.hpp"
#include "program/all_commands.hpp"
#include "program/arrays.hpp"
#include "program/disks.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <doctest/doctest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

/// The program's output on a terminal.
std::string on_terminal(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), WARPALIGN_PROGRAM);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int terminal = -1;
  const pid_t process = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  REQUIRE(process >= 0);
  if (process == 0) {
    ::execv(WARPALIGN_PROGRAM, pointers.data());
    std::_Exit(127);
  }
  std::string shown;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(terminal, buffer.data(), buffer.size())) > 0;) {
    shown.append(buffer.data(), static_cast<std::size_t>(n));
  }
  ::waitpid(process, nullptr, 0);
  ::close(terminal);
  return shown;
}

const std::string demo = WARPALIGN_DEMO_DATA;

/// A registration whose kernels are compiled already, by other tests or by the first call.
std::vector<std::string> registration(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"register",           demo + "/reference.jpg",
                                     demo + "/moving.jpg", "--fast",
                                     "--device",           test_device()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE(
    "register begins with the result: whether the images fit, the transform and the confidence") {
  require_test_device();
  const Outcome outcome = run_program(registration({}));
  const std::string first = outcome.out.substr(0, outcome.out.find('\n'));
  CHECK(outcome.status == 0);
  CHECK(first.starts_with("The images fit: rotation 31.6"));
  CHECK(contains(first, "scale 1.2"));
  CHECK(contains(first, "shift (4"));
  CHECK(contains(first, "confidence 1.00"));
}

TEST_CASE("--quiet prints no report, but keeps the status, the files and --json") {
  require_test_device();
  const ScratchFolder folder;
  const Outcome quiet = run_program(registration({"--quiet", "--output", folder / "out.png"}));
  CHECK(quiet.status == 0);
  CHECK(quiet.out.empty());
  CHECK(quiet.err.empty());
  CHECK(std::filesystem::exists(folder / "out.png"));
  const Outcome json = run_program(registration({"--quiet", "--json"}));
  CHECK(nlohmann::json::parse(json.out)["status"] == "ok");
  CHECK(json.err.empty());
  const Outcome wrong = run_program({"register", "none.png", "none.png", "--quiet"});
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "none.png"));
}

TEST_CASE("every command that has --quiet and --verbose obeys them") {
  require_test_device();
  const ScratchFolder folder;
  save_npy(folder / "in.npy", random_array({16, 16, 16}, PixelType::f32));
  save_image(folder / "in.png", draw({}, {96, 96, 1}, 1, PixelType::u8));
  const std::vector<std::vector<std::string>> commands{
      {"resample", folder / "in.npy", folder / "out.npy", "--zoom", "2"},
      {"prefilter", folder / "in.npy", folder / "out.npy"},
      {"register-volume", folder / "in.npy", folder / "in.npy"},
      {"template", folder / "in.png", folder / "in.png", "--motion", "rigid", "--rounds", "1",
       "--output", folder / "mean.npy"},
      {"doctor", "--quick"}};
  for (auto command : commands) {
    command.insert(command.end(), {"--device", test_device(), "--quiet"});
    CAPTURE(command[0]);
    const Outcome quiet = run_program(command);
    CHECK(quiet.status == 0);
    CHECK(quiet.out.empty());
    CHECK(quiet.err.empty());
    command.back() = "--verbose";
    const Outcome verbose = run_program(command);
    CHECK(verbose.status == 0);
    CHECK_FALSE(verbose.out.empty());
    CHECK(verbose.err.starts_with("warpalign: "));
  }
}

TEST_CASE("--verbose prints the steps with their time, and leaves standard output unchanged") {
  require_test_device();
  const Outcome outcome = run_program(registration({"--verbose", "--json"}));
  CHECK(nlohmann::json::accept(outcome.out));
  for (const char* part : {"configuration: ", "reading the images", "device ", "registering"}) {
    CAPTURE(part);
    CHECK(contains(outcome.err, part));
  }
}

TEST_CASE("--quiet and --verbose exclude each other") {
  const Outcome outcome = run_program(registration({"--quiet", "--verbose"}));
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, "--quiet"));
}

TEST_CASE("--quiet is in the help of every command that works, and of no other") {
  for (auto command : all_commands()) {
    const std::string name = command.empty() ? "" : command[0];
    // The commands of `transform` print nothing but their results.
    const bool works = !command.empty() && name != "devices" && name != "completion" &&
                       name != "man" && name != "transform" &&
                       (name != "experiment" || command.size() > 1);
    command.emplace_back("--help");
    CAPTURE(name);
    const std::string help = run_program(command).out;
    CHECK(contains(help, "--quiet") == works);
    CHECK(contains(help, "--verbose") == works);
  }
}

TEST_CASE("colours are shown on a terminal only, and never with NO_COLOR") {
  require_test_device();
  const std::string green = "\x1b[32m";
  const Variable terminal("TERM", "xterm");
  const Variable allowed("NO_COLOR", nullptr);
  CHECK(contains(on_terminal(registration({})), green + "The images fit"));
  CHECK_FALSE(contains(run_program(registration({})).out, "\x1b"));
  const Variable refused("NO_COLOR", "1");
  const std::string plain = on_terminal(registration({}));
  CHECK(contains(plain, "The images fit"));
  CHECK_FALSE(contains(plain, green));
}

TEST_CASE("progress is drawn on a terminal only, and erased at the end") {
  require_test_device();
  const ScratchFolder folder;
  const Variable cache("XDG_CACHE_HOME", (folder / "cache").c_str());
  const Variable pocl("POCL_CACHE_DIR", (folder / "pocl").c_str());
  std::filesystem::create_directory(folder / "pocl");
  const std::vector<std::string> experiment{"experiment",   "zoom",        demo + "/moving.jpg",
                                            "--device",     test_device(), "--output-folder",
                                            folder / "zoom"};
  const std::string shown = on_terminal(experiment);
  CHECK(contains(shown, "[###"));
  // The report begins on an empty line, not over the rest of a longer one.
  const std::string cleared = "\x1b[K";
  const std::size_t report = shown.find("pixels at");
  REQUIRE(report != std::string::npos);
  const std::size_t line = shown.rfind(cleared, report) + cleared.size();
  CHECK(shown.substr(line, report - line) == "  64 x 64 ");
  const Outcome piped = run_program(experiment);
  CHECK(piped.status == 0);
  CHECK(piped.err.empty());
  auto quiet = experiment;
  quiet.emplace_back("--quiet");
  CHECK(on_terminal(quiet).empty());
}

TEST_CASE("a status line never wraps, and has no control characters from file names") {
  using program::fitting_line;
  CHECK(fitting_line("[##  ] 1/2 a", 80) == "[##  ] 1/2 a");
  CHECK(fitting_line("writing out.npy ... 3 s", 8) == "writing");
  CHECK(fitting_line("\xc3\xbc\xc3\xbc\xc3\xbc", 3) == "\xc3\xbc\xc3\xbc");
  CHECK(fitting_line("a\x1b[2Jb\nc\x7f", 80) == "a [2Jb c ");
}

}  // namespace
}  // namespace warpalign::test

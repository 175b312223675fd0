// Runs the program by posix_spawn, with its output redirected to files.
#include "program/run_program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

extern char** environ;

namespace warpalign::test {
namespace {

int spawn_and_wait(const std::vector<std::string>& command, const std::string& out,
                   const std::string& err) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), flags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), flags, 0600);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot run " + command[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Outcome run(const std::string& program, const std::vector<std::string>& arguments) {
  const ScratchFolder folder;
  std::vector<std::string> command{WARPALIGN_MEASURE_MEMORY, folder / "peak", program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Outcome outcome;
  outcome.status = spawn_and_wait(command, folder / "out", folder / "err");
  outcome.out = read_text(folder / "out");
  outcome.err = read_text(folder / "err");
  outcome.peak_kilobytes = std::stol(read_text(folder / "peak"));
  return outcome;
}

}  // namespace

Outcome run_program(const std::vector<std::string>& arguments) {
  return run(WARPALIGN_PROGRAM, arguments);
}

Outcome run_script(const std::string& script) {
  ::setenv("W", WARPALIGN_PROGRAM, 1);
  return run("/bin/sh", {"-c", script});
}

std::string test_device() {
  const char* named = std::getenv("WARPALIGN_TEST_DEVICE");
  return named != nullptr ? named : "opencl";
}

void require_test_device() {
  static const std::string trouble = [] {
    ::setenv("WARPALIGN_DEVICE", test_device().c_str(), 1);
    const auto report = nlohmann::json::parse(run_program({"devices", "--json"}).out);
    ::unsetenv("WARPALIGN_DEVICE");
    return report["default"].is_null() ? report["default_error"].get<std::string>() : "";
  }();
  REQUIRE_MESSAGE(trouble.empty(), "no device to test the program on: " << trouble);
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "warpalign-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> ScratchFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void truncate_copy(const std::string& from, const std::string& to, double share) {
  const std::string all = read_text(from);
  write_text(to, all.substr(0, static_cast<std::size_t>(share * static_cast<double>(all.size()))));
}

}  // namespace warpalign::test

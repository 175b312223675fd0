// Child processes of this program that try operations which may crash or hang.
#include "doctor/probe_process.hpp"

#include "io/one_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace warpalign::program::doctor {
namespace {

using Clock = std::chrono::steady_clock;

/// A pipe. The destructor closes both ends.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_write_end() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

/// Redirects standard input and standard error to /dev/null, and standard output to a pipe.
class Redirections {
 public:
  explicit Redirections(int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;
  ~Redirections() { posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Uses a separate process group, so that compilers which the probe starts end with it.
class OwnGroup {
 public:
  OwnGroup() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
  }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;
  ~OwnGroup() { posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

Words environment_with(const std::map<std::string, std::string>& variables) {
  Words environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) environment.push_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<char*> pointers_to(Words& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

pid_t start(Words arguments, const std::map<std::string, std::string>& variables, int output) {
  arguments.insert(arguments.begin(), "warpalign");
  Words environment = environment_with(variables);
  const Redirections redirections(output);
  const OwnGroup group;
  pid_t process = 0;
  const int failed = ::posix_spawn(&process, "/proc/self/exe", redirections.get(), group.get(),
                                   pointers_to(arguments).data(), pointers_to(environment).data());
  return failed == 0 ? process : 0;
}

/// Reads until the other end is closed. Returns false after a timeout.
bool read_all(int descriptor, Clock::time_point deadline, std::string& text) {
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    struct pollfd waited {};
    waited.fd = descriptor;
    waited.events = POLLIN;
    const int ready = ::poll(&waited, 1, static_cast<int>(left > 0 ? left : 0));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count <= 0) return true;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::vector<Words> split(const std::string& text) {
  std::vector<Words> lines;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    Words words(1);
    for (std::size_t i = start; i < end; ++i) {
      if (text[i] == '\t') {
        words.emplace_back();
      } else {
        words.back() += text[i];
      }
    }
    lines.push_back(std::move(words));
    start = end + 1;
  }
  return lines;
}

std::string trouble_of(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format("the process crashed (signal {}, {})", signal, ::strsignal(signal));
  }
  if (WEXITSTATUS(status) != 0) {
    return fmt::format("the process ended with status {}", WEXITSTATUS(status));
  }
  return {};
}

}  // namespace

std::string ProbeOutcome::value(const std::string& key) const {
  for (const Words& line : lines) {
    if (line.size() > 1 && line[0] == key) return line[1];
  }
  return {};
}

ProbeOutcome run_probe(const Words& arguments, const std::map<std::string, std::string>& variables,
                       std::chrono::seconds limit) {
  ProbeOutcome outcome;
  const Clock::time_point begin = Clock::now();
  Pipe answers;
  const pid_t process = start(arguments, variables, answers.write_end());
  if (process == 0) {
    outcome.trouble = "this program could not be started once more";
    return outcome;
  }
  answers.close_write_end();
  std::string text;
  const bool in_time = read_all(answers.read_end(), begin + limit, text);
  if (!in_time) ::kill(-process, SIGKILL);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.lines = split(text);
  outcome.trouble =
      in_time ? trouble_of(status) : fmt::format("no answer within {} s", limit.count());
  outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return outcome;
}

void become_probe() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const struct rlimit none {};
  ::setrlimit(RLIMIT_CORE, &none);
}

void say_line(const Words& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += '\t';
    line += on_one_line(word);
  }
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace warpalign::program::doctor

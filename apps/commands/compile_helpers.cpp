// Processes that compile ahead of this one.
#include "commands/compile_helpers.hpp"

#include "commands/compilation_watch.hpp"
#include "io/usage_error.hpp"

#include <warpalign/compilation.hpp>
#include <warpalign/installation.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

namespace warpalign::program {
namespace {

// Pieces are few, and some drivers open a device in one process at a time: more processes would
// spend their time on starting.
constexpr std::size_t max_helpers = 6;

constexpr std::array types{std::pair("u8", PixelType::u8), std::pair("u16", PixelType::u16),
                           std::pair("f32", PixelType::f32)};

/// Standard input is a queue, output and errors lead nowhere.
class Silence {
 public:
  explicit Silence(int queue) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, queue, STDIN_FILENO);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", O_RDWR, 0);
    }
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() { posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// The numbers of all pieces in a pipe, the last one first. Whoever reads a byte has it alone.
class PieceQueue {
 public:
  PieceQueue() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    reading_ = ends[0];
    std::string numbers;
    for (std::size_t i = registration_pieces(); i-- > 0;) numbers.push_back(static_cast<char>(i));
    const ssize_t written = ::write(ends[1], numbers.data(), numbers.size());
    static_cast<void>(
        written);  // a few bytes fit; pieces that are missing are compiled when needed
    ::close(ends[1]);
  }
  PieceQueue(const PieceQueue&) = delete;
  PieceQueue& operator=(const PieceQueue&) = delete;
  ~PieceQueue() {
    if (reading_ >= 0) ::close(reading_);
  }
  /// A descriptor to read from, or -1.
  [[nodiscard]] int get() const { return reading_; }

 private:
  int reading_ = -1;
};

/// This program with other arguments and standard input; 0 where it cannot be started.
pid_t start_program(std::vector<std::string> arguments, int input) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const Silence silence(input);
  pid_t process = 0;
  const int failure =
      ::posix_spawn(&process, "/proc/self/exe", silence.get(), nullptr, pointers.data(), environ);
  return failure == 0 ? process : 0;
}

/// Whether the device will be one of the OpenCL backend, as far as can be said before it is opened.
bool will_be_opencl(const DeviceOptions& options, const Config& config) {
  const std::string& wanted = options.device.empty() ? config.device.value_or("") : options.device;
  if (!wanted.empty()) return wanted.rfind("opencl", 0) == 0;
  const std::vector<std::string> backends = describe_installation(config).backends;
  const auto best = std::find_if(backends.begin(), backends.end(), [&](const auto& backend) {
    return examine_module(backend, config).exists;
  });
  return best != backends.end() && *best == "opencl";
}

PixelType type_named(const std::string& name) {
  const auto type =
      std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.first == name; });
  if (type != types.end()) return type->second;
  throw UsageError(fmt::format("--pieces-for {}: is not u8, u16 or f32", name));
}

bool nothing_is_compiled(const Config& config) {
  const std::filesystem::path folder = describe_installation(config).cache_folder;
  std::error_code problem;
  return !folder.empty() &&
         (!std::filesystem::exists(folder, problem) ||
          std::filesystem::is_empty(folder, problem)) &&
         !problem;
}

}  // namespace

bool CompileHelpers::know(PixelType type) {
  return std::any_of(types.begin(), types.end(),
                     [&](const auto& named) { return named.second == type; });
}

CompileHelpers::CompileHelpers(const DeviceOptions& device, const Config& config, PixelType type)
    : device_(device), type_(type) {
  if (will_be_opencl(device, config) && nothing_is_compiled(config)) {
    start();
  } else {
    CompilationWatch::when_slow([this] { start(); });
  }
}

CompileHelpers::~CompileHelpers() {
  CompilationWatch::when_slow({});
  for (const pid_t process : processes_) ::kill(process, SIGTERM);
  for (const pid_t process : processes_) ::waitpid(process, nullptr, 0);
}

void CompileHelpers::start() {
  const auto type =
      std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.second == type_; });
  const PieceQueue queue;
  if (type == types.end() || queue.get() < 0) return;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t helpers = std::min(cores - 1, max_helpers);
  for (std::size_t i = 0; i < helpers; ++i) {
    std::vector<std::string> arguments{"warpalign", "warm-up", "--pieces-for", type->first};
    if (!device_.device.empty()) arguments.insert(arguments.end(), {"--device", device_.device});
    if (device_.config) arguments.insert(arguments.end(), {"--config", *device_.config});
    const pid_t process = start_program(std::move(arguments), queue.get());
    if (process != 0) processes_.push_back(process);
  }
}

void CompileHelpers::help(const Device& device, const std::string& type) {
  const PixelType wanted = type_named(type);
  unsigned char piece = 0;
  while (::read(STDIN_FILENO, &piece, 1) == 1) compile_registration_piece(device, piece, wanted);
}

}  // namespace warpalign::program

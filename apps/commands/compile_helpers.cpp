// Helper processes that compile kernels in parallel with this process.
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

// There are few programs: more helpers would spend their time starting up.
constexpr std::size_t max_helpers = 5;

constexpr std::array types{std::pair("u8", PixelType::u8), std::pair("u16", PixelType::u16),
                           std::pair("f32", PixelType::f32)};

/// Redirects standard input, output and error to /dev/null.
class Silence {
 public:
  Silence() {
    posix_spawn_file_actions_init(&actions_);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
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

/// Starts this program with other arguments. Returns 0 if that fails.
pid_t start_program(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const Silence silence;
  pid_t process = 0;
  const int failure =
      ::posix_spawn(&process, "/proc/self/exe", silence.get(), nullptr, pointers.data(), environ);
  return failure == 0 ? process : 0;
}

/// Whether the OpenCL backend will open the device, as far as the options tell.
bool will_be_opencl(const DeviceOptions& options, const Config& config) {
  const std::string& wanted = options.device.empty() ? config.device.value_or("") : options.device;
  if (!wanted.empty()) return wanted.rfind("opencl", 0) == 0;
  const std::vector<std::string> backends = describe_installation(config).backends;
  const auto best = std::find_if(backends.begin(), backends.end(), [&](const auto& backend) {
    return examine_module(backend, config).exists;
  });
  return best != backends.end() && *best == "opencl";
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

std::string to_text(const HelperPart& part) {
  const auto* type = std::find_if(types.begin(), types.end(),
                                  [&](const auto& named) { return named.second == part.type; });
  return fmt::format("{}/{}:{}", part.number, part.of, type->first);
}

HelperPart helper_part(const std::string& text) {
  for (const auto& [name, type] : types) {
    HelperPart part{0, 1, type};
    int end = 0;
    const std::string form = "%zu/%zu:" + std::string(name) + "%n";
    if (std::sscanf(text.c_str(), form.c_str(), &part.number, &part.of, &end) == 2 &&
        static_cast<std::size_t>(end) == text.size() && part.number < part.of) {
      return part;
    }
  }
  throw UsageError(fmt::format("--part {}: must have the form 0/2:u8", text));
}

bool CompileHelpers::know(PixelType type) {
  return std::any_of(types.begin(), types.end(),
                     [&](const auto& named) { return named.second == type; });
}

CompileHelpers::CompileHelpers(const DeviceOptions& device, const Config& config, PixelType type)
    : device_(device), type_(type) {
  if (will_be_opencl(device, config) && nothing_is_compiled(config)) {
    start();
  } else {
    CompilationWatch::set_slow_compilation_handler([this] { start(); });
  }
}

CompileHelpers::~CompileHelpers() {
  CompilationWatch::set_slow_compilation_handler({});
  for (const pid_t process : processes_) ::kill(process, SIGTERM);
  for (const pid_t process : processes_) ::waitpid(process, nullptr, 0);
}

void CompileHelpers::start() {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t helpers = std::min(cores - 1, max_helpers);
  for (std::size_t i = 0; i < helpers; ++i) {
    std::vector<std::string> arguments{"warpalign", "warm-up", "--part",
                                       to_text({i, helpers, type_})};
    if (!device_.device.empty()) arguments.insert(arguments.end(), {"--device", device_.device});
    if (device_.config) arguments.insert(arguments.end(), {"--config", *device_.config});
    const pid_t process = start_program(std::move(arguments));
    if (process != 0) processes_.push_back(process);
  }
}

void CompileHelpers::help(const Device& device, const HelperPart& part) {
  const std::size_t pieces = registration_pieces();
  for (std::size_t i = part.number; i < pieces; i += part.of) {
    compile_registration_piece(device, pieces - 1 - i, part.type);
  }
}

}  // namespace warpalign::program

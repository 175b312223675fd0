// Several processes share a cache of kernels, even if one of them is killed at any time, and may
// fork.
#include "faults/scenarios.hpp"
#include "support/devices.hpp"

#include <warpalign/open_device.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

namespace {

using warpalign::Device;
using warpalign::Error;
using warpalign::ErrorKind;

/// A folder. The destructor removes it and its contents.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "warpalign-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Starts this program in another process, which runs the case "use a device" with its own cache.
pid_t start_user(const std::filesystem::path& cache) {
  const std::string program = "/proc/" + std::to_string(::getpid()) + "/exe";
  const std::string home = "XDG_CACHE_HOME=" + cache.string();
  const std::string pocl = "POCL_CACHE_DIR=" + (cache / "pocl").string();
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::execl("/usr/bin/env", "env", home.c_str(), pocl.c_str(), program.c_str(), "--no-skip",
          "--out=/dev/null", "--test-case=use a device", nullptr);
  ::_exit(127);
}

/// Returns the exit status, or -1 if a signal ended the process.
int wait_for(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<faults::Scenario> some_scenarios() {
  std::vector<faults::Scenario> some;
  for (const faults::Scenario& scenario : faults::stage_scenarios()) {
    if (scenario.name == "sobel" || scenario.name == "fft, 2-D") some.push_back(scenario);
  }
  return some;
}

/// For a forked child: 0 if the function throws the expected Error.
template <class Use>
int status_of_use(const Use& use) {
  try {
    use();
  } catch (const Error& error) {
    const bool says_why = error.message().find("forked") != std::string::npos;
    return error.kind() == ErrorKind::device_unavailable && says_why ? 0 : 2;
  } catch (...) {
    return 3;
  }
  return 1;
}

/// Runs the body in a forked child, and returns the child's status, or -1 if it had to be killed.
template <class Body>
int forked(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(30)) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return -1;
    }
    ::usleep(1000);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

// The case below runs this one in separate processes. Its results must equal those of this
// process.
TEST_CASE("use a device" * doctest::skip()) {
  const Device device = warpalign::open_device("opencl:portable");
  for (const faults::Scenario& scenario : some_scenarios()) {
    const auto first = scenario.make(device)();
    const bool same = scenario.make(device)() == first;
    CHECK(same);
  }
}

TEST_CASE("processes: several share a cache of kernels, and are killed at any moment") {
  std::mt19937 random(5);
  const Folder folder;
  int killed = 0;
  for (int round = 0; round < 12; ++round) {
    // Every few rounds start with an empty cache, so that kills interrupt compilation as well as
    // use.
    const auto cache = folder.path() / std::to_string(round / 4);
    std::filesystem::create_directories(cache / "pocl");
    std::array<pid_t, 3> processes{};
    for (pid_t& process : processes) process = start_user(cache);
    for (std::size_t i = 0; i < 2; ++i) {
      ::usleep(static_cast<useconds_t>(random() % 700000));
      ::kill(processes[i], SIGKILL);
    }
    for (std::size_t i = 0; i < 2; ++i) killed += wait_for(processes[i]) < 0 ? 1 : 0;
    CHECK(wait_for(processes[2]) == 0);
  }
  MESSAGE("killed " << killed << " processes");
  CHECK(killed >= 6);
}

TEST_CASE("processes: a fork after first use gives an error, and nothing hangs") {
  test::on_every_device([](const Device& device) {
    warpalign::Stream stream = device.make_stream();
    warpalign::Buffer buffer = device.make_buffer(64);
    const std::vector<char> bytes(64);
    const auto work = faults::registration_scenarios().front().make(device);
    static_cast<void>(work());
    CHECK(forked([&] {
            return status_of_use([] { static_cast<void>(warpalign::open_device()); });
          }) == 0);
    CHECK(forked([&] { return status_of_use([&] { static_cast<void>(work()); }); }) == 0);
    CHECK(forked([&] {
            return status_of_use([&] { stream.upload(bytes.data(), bytes.size(), buffer); });
          }) == 0);
    CHECK(forked([&] { return status_of_use([&] { stream.finish(); }); }) == 0);
    CHECK(forked([&] {
            for (const auto& backend : warpalign::list_backends()) {
              if (backend.available) return 1;
              if (backend.reason.find("forked") == std::string::npos) return 2;
            }
            return 0;
          }) == 0);
    CHECK_NOTHROW(static_cast<void>(work()));  // this process still works
  });
}

// A child destroys the objects that it inherits, as at the end of a scope.
TEST_CASE("processes: a forked child may destroy the objects that it inherited") {
  test::on_every_device([](const Device& device) {
    for (const faults::Scenario& scenario : faults::registration_scenarios()) {
      CAPTURE(scenario.name);
      auto work = std::make_unique<faults::Work>(scenario.make(device));
      static_cast<void>((*work)());
      CHECK(forked([&] {
              work.reset();
              return 0;
            }) == 0);
    }
    auto own = std::make_unique<Device>(warpalign::open_device(device.info().id));
    CHECK(forked([&] {
            own.reset();
            return 0;
          }) == 0);
  });
}

TEST_CASE("processes: a child that was forked before the first use works") {
  const std::string program = "/proc/" + std::to_string(::getpid()) + "/exe";
  const std::string line = program + " --no-skip --out=/dev/null '--test-case=fork first'";
  const int status = std::system(line.c_str());
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("fork first" * doctest::skip()) {
  CHECK(forked([] {
          try {
            const Device device = warpalign::open_device("opencl:portable");
            static_cast<void>(some_scenarios().front().make(device)());
            return 0;
          } catch (...) {
            return 1;
          }
        }) == 0);
}

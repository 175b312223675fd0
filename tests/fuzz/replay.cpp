// Runs every target on its inputs in corpus/ and on random changes of them. It does not need
// libFuzzer, so any compiler can build it.
//
//   test_fuzz [--target NAME] [--mutations N] [--seed S] [--file FILE] CORPUS
//
// If an input crashes the program, the last line says how to run that input alone.
#include "mutation.hpp"
#include "target.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace warpalign::fuzz;
using Path = std::filesystem::path;
using Bytes = std::vector<std::uint8_t>;

struct Options {
  std::string target;
  Path file;
  Path corpus;
  std::uint64_t mutations = 100;
  std::uint64_t seed = 1;
};

/// The line that the signal handler prints, composed before each input runs.
std::array<char, 600> reproducer{};

void announce(const Target& target, const Path& file, std::uint64_t seed, std::uint64_t mutation) {
  std::snprintf(reproducer.data(), reproducer.size(),
                "fuzz: target %s, file %s, seed %llu, change %llu brought it down\n",
                target.name.data(), file.c_str(), static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(mutation));
}

void tell(int signal) {
  const ssize_t ignored = ::write(STDERR_FILENO, reproducer.data(), std::strlen(reproducer.data()));
  static_cast<void>(ignored);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void tell_exception() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "fuzz: an exception leaves the target: %s\n", error.what());
    } catch (...) {
      std::fprintf(stderr, "fuzz: an exception of an unknown type leaves the target\n");
    }
  }
  std::abort();
}

/// A hang is a finding, and so is a use of memory that no input of a corpus needs.
void limit_time_and_memory() {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    std::signal(signal, tell);
  }
  std::set_terminate(tell_exception);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit memory{std::size_t{4} << 30, std::size_t{4} << 30};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
}

Bytes content_of(const Path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run(const Target& target, Input input) {
  constexpr unsigned seconds = 60;
  ::alarm(seconds);
  target.run(input);
  ::alarm(0);
}

/// Returns the number of inputs run.
std::uint64_t run_file(const Target& target, const Path& path, const Options& options) {
  const Bytes original = content_of(path);
  announce(target, path, options.seed, 0);
  run(target, original);
  for (std::uint64_t i = 1; i <= options.mutations; ++i) {
    announce(target, path, options.seed, i);
    run(target, mutated(original, options.seed, i));
  }
  return 1 + options.mutations;
}

std::vector<Path> files_in(const Path& folder) {
  std::vector<Path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Returns false if a target has no inputs, because then it would not be tested.
bool run_target(const Target& target, const Options& options) {
  const std::vector<Path> files = options.file.empty() ? files_in(options.corpus / target.name)
                                                       : std::vector<Path>{options.file};
  std::uint64_t inputs = 0;
  for (const Path& file : files) inputs += run_file(target, file, options);
  std::printf("%-16s %4zu files %8llu inputs\n", std::string(target.name).c_str(), files.size(),
              static_cast<unsigned long long>(inputs));
  std::fflush(stdout);
  return !files.empty();
}

std::uint64_t number_of(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  require(failed == std::errc{} && stop == end, "an option's value is a number");
  return value;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      require(i + 1 < argc, "an option has a value");
      return argv[++i];
    };
    if (word == "--target") {
      options.target = value();
    } else if (word == "--mutations") {
      options.mutations = number_of(value());
    } else if (word == "--seed") {
      options.seed = number_of(value());
    } else if (word == "--file") {
      options.file = value();
    } else {
      options.corpus = word;
    }
  }
  require(!options.corpus.empty() || !options.file.empty(), "the folder of the inputs is named");
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  limit_time_and_memory();
  std::printf("seed %llu, %llu changed inputs a file\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.mutations));
  std::size_t run = 0;
  for (const Target& target : targets()) {
    if (!options.target.empty() && target.name != options.target) continue;
    require(run_target(target, options), "each target has inputs");
    ++run;
  }
  require(run > 0, "there is a target of that name");
  return 0;
}

// The verbosity of the program.
#include "io/messages.hpp"

#include "io/one_line.hpp"
#include "io/status_line.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>

namespace warpalign::program {
namespace {

std::atomic<Verbosity> chosen_verbosity{Verbosity::normal};
const auto program_start = std::chrono::steady_clock::now();

}  // namespace

void set_verbosity(Verbosity verbosity) { chosen_verbosity = verbosity; }

Verbosity verbosity() { return chosen_verbosity; }

void report(const std::string& text) {
  if (chosen_verbosity == Verbosity::quiet) return;
  clear_status();
  fmt::print("{}", text);
}

void remark(const std::string& text) {
  static std::mutex printing;
  static std::set<std::string> printed;
  const std::scoped_lock lock(printing);
  if (chosen_verbosity == Verbosity::quiet || !printed.insert(text).second) return;
  clear_status();
  fmt::print(stderr, "warpalign: {}\n", on_one_line(text));
}

void detail(const std::string& text) {
  if (chosen_verbosity != Verbosity::verbose) return;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - program_start;
  clear_status();
  fmt::print(stderr, "warpalign: {:7.3f} s: {}\n", passed.count(), on_one_line(text));
}

}  // namespace warpalign::program

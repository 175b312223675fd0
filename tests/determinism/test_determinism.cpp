// The same input gives the same bits on the same device: after any other work, on a device that is
// opened again, from several threads at once, and for any number of threads of a CPU device.
#include "faults/scenarios.hpp"
#include "support/devices.hpp"
#include "support/skipped.hpp"

#include <warpalign/open_device.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <random>
#include <string>

namespace {

using faults::Bytes;
using faults::Scenario;
using warpalign::Device;

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> both = faults::stage_scenarios();
    for (const Scenario& scenario : faults::registration_scenarios()) both.push_back(scenario);
    return both;
  }();
  return all;
}

std::map<std::string, Bytes> results_of(const Device& device,
                                        const std::vector<Scenario>& in_oracle_order) {
  std::map<std::string, Bytes> results;
  for (const Scenario& scenario : in_oracle_order) results[scenario.name] = scenario.make(device)();
  return results;
}

/// The names with different results.
std::string differing(const std::map<std::string, Bytes>& a,
                      const std::map<std::string, Bytes>& b) {
  std::string names;
  for (const auto& [name, bytes] : a) {
    if (b.at(name) != bytes) names += name + "; ";
  }
  return names;
}

std::uint64_t hash_of(const Bytes& bytes) {
  std::uint64_t hash = 1469598103934665603U;  // FNV-1a
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211U;
  }
  return hash;
}

/// The output of another process whose PoCL uses this number of threads.
std::string printed_with_threads(int threads) {
  const std::string line = "POCL_MAX_PTHREAD_COUNT=" + std::to_string(threads) + " /proc/" +
                           std::to_string(::getpid()) +
                           "/exe --no-skip --test-case='print hashes' 2>&1";
  FILE* const output = ::popen(line.c_str(), "r");
  REQUIRE(output != nullptr);
  std::string hashes;
  std::array<char, 4096> text{};
  while (std::fgets(text.data(), static_cast<int>(text.size()), output) != nullptr) {
    if (std::string(text.data()).starts_with("hash ")) hashes += text.data();
  }
  CHECK(::pclose(output) == 0);
  return hashes;
}

}  // namespace

TEST_CASE("determinism: results do not depend on earlier work") {
  test::on_every_device([](const Device& device) {
    const auto expected = results_of(device, scenarios());
    std::mt19937 random(3);
    for (int round = 0; round < 3; ++round) {
      std::vector<Scenario> shuffled = scenarios();
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      CHECK(differing(expected, results_of(device, shuffled)) == "");
    }
    const Device again = warpalign::open_device(device.info().id);
    CHECK(differing(expected, results_of(again, scenarios())) == "");
  });
}

TEST_CASE("determinism: objects that are reused give the same results each time") {
  test::on_every_device([](const Device& device) {
    for (const Scenario& scenario : scenarios()) {
      CAPTURE(scenario.name);
      const faults::Work work = scenario.make(device);
      const Bytes first = work();
      for (int round = 0; round < 4; ++round) {
        const bool same = work() == first;
        CHECK(same);
      }
    }
  });
}

TEST_CASE("determinism: several threads of the host on one device give the same results") {
  test::on_every_device([](const Device& device) {
    const auto expected = results_of(device, scenarios());
    std::vector<std::future<std::map<std::string, Bytes>>> threads;
    for (unsigned thread = 0; thread < 4; ++thread) {
      threads.push_back(std::async(std::launch::async, [&device, thread] {
        std::vector<Scenario> shuffled = scenarios();
        std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(thread));
        return results_of(device, shuffled);
      }));
    }
    for (auto& thread : threads) CHECK(differing(expected, thread.get()) == "");
  });
}

// The case below runs this one in separate processes.
TEST_CASE("print hashes" * doctest::skip()) {
  const Device device = warpalign::open_device("opencl:portable");
  for (const auto& [name, bytes] : results_of(device, scenarios())) {
    std::printf("hash %s %016llx\n", name.c_str(), static_cast<unsigned long long>(hash_of(bytes)));
  }
}

TEST_CASE("determinism: results do not depend on PoCL's number of threads") {
  const std::string of_one = printed_with_threads(1);
  CHECK(std::count(of_one.begin(), of_one.end(), '\n') ==
        static_cast<std::ptrdiff_t>(scenarios().size()));
  for (const int threads : {2, 3, 7}) {
    CAPTURE(threads);
    CHECK(printed_with_threads(threads) == of_one);
  }
}

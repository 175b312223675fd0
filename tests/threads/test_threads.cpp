// Concurrent threads: they use one device, and open, use and close devices.
#include "faults/scenarios.hpp"
#include "support/devices.hpp"

#include <warpalign/open_device.hpp>

#include <future>
#include <optional>

namespace {

using faults::Bytes;
using faults::Scenario;
using warpalign::Device;

constexpr unsigned thread_count = 4;

/// Short work of every kind.
std::vector<Scenario> short_scenarios() {
  std::vector<Scenario> all = faults::stage_scenarios();
  for (const Scenario& scenario : faults::registration_scenarios()) {
    const bool is_short = scenario.name == "align, the fast pipeline" ||
                          scenario.name == "align, volumes" || scenario.name == "align, windows";
    if (is_short) all.push_back(scenario);
  }
  return all;
}

/// Runs body(number) on several threads at once, and rethrows their exceptions.
template <class Body>
void on_threads(const Body& body) {
  std::vector<std::future<void>> threads;
  for (unsigned i = 0; i < thread_count; ++i) {
    threads.push_back(std::async(std::launch::async, [&body, i] { body(i); }));
  }
  for (auto& thread : threads) thread.get();
}

}  // namespace

TEST_CASE("threads: each opens, uses and closes its own devices") {
  test::on_every_device([](const Device& device) {
    const std::string id = device.info().id;
    const std::vector<Scenario> scenarios = short_scenarios();
    std::vector<Bytes> expected;
    for (const Scenario& scenario : scenarios) expected.push_back(scenario.make(device)());
    std::atomic<int> wrong{0};
    on_threads([&](unsigned number) {
      for (unsigned round = 0; round < 3; ++round) {
        const Device own = warpalign::open_device(id);
        for (std::size_t i = number; i < scenarios.size(); i += 3) {
          if (scenarios[i].make(own)() != expected[i]) ++wrong;
        }
      }
    });
    CHECK(wrong == 0);
  });
}

TEST_CASE("threads: objects may be used and destroyed by another thread") {
  test::on_every_device([](const Device& device) {
    for (const Scenario& scenario : short_scenarios()) {
      CAPTURE(scenario.name);
      std::optional<faults::Work> work = scenario.make(device);
      const Bytes first = (*work)();
      const auto elsewhere = std::async(std::launch::async, [&] {
                               Bytes second = (*work)();
                               work.reset();
                               return second;
                             }).get();
      const bool same = elsewhere == first;
      CHECK(same);
    }
  });
}

TEST_CASE("threads: devices are listed while others are used") {
  test::on_every_device([](const Device& device) {
    const std::vector<Scenario> scenarios = short_scenarios();
    on_threads([&](unsigned number) {
      for (int round = 0; round < 5; ++round) {
        if (number == 0) {
          static_cast<void>(warpalign::list_backends());
        } else {
          static_cast<void>(scenarios[number].make(device)());
        }
      }
    });
  });
}

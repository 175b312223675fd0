// A device that is lost during any work stays lost, and reports it. Other devices continue, and
// the device can be opened again.
//
// The device is one of tests/backend_faulty. From the point of the loss on, every call of its
// driver fails.
#include "faults/check.hpp"
#include "support/blobs.hpp"

#include <warpalign/batch.hpp>

#include <algorithm>
#include <array>
#include <latch>
#include <optional>

namespace {

using namespace warpalign;
using faults::Bytes;
using faults::Scenario;
using faults::Work;

Device open_faulty() {
  Config config = default_config();
  config.backends = {"faulty"};
  return faults::open_device_of("faulty", config);
}

std::optional<Error> error_of(const std::function<void()>& use) {
  try {
    use();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// Returns what is wrong with the refusal of a lost device, or nothing.
std::string wrong_in_refusal(const std::function<void()>& use) {
  const std::optional<Error> error = error_of(use);
  if (!error) return "it is not refused";
  const std::string text = error->what();
  if (error->kind() != ErrorKind::device_unavailable) return "of another kind: " + text;
  if (error->context().code != "INJECTED_LOSS") return "without the failure's code: " + text;
  if (error->context().backend != "faulty") return "of another backend: " + text;
  const bool says = text.find("the device was lost") != std::string::npos &&
                    error->context().advice.find("open_device") != std::string::npos;
  return says ? "" : "it does not say what is the matter: " + text;
}

bool is_of_a_loss(const Error& error) {
  const std::string text = error.what();
  return text.find("injected fault") != std::string::npos || text.find("lost") != std::string::npos;
}

/// Loses the device at some points of a scenario's work.
class Losses {
 public:
  explicit Losses(const Scenario& scenario)
      : scenario_(scenario), kept_(scenario.make(other_)), expected_(kept_()) {}

  void run() {
    faults::count_points();
    static_cast<void>(scenario_.make(other_)());
    faults::stop();
    static_cast<void>(kept_());
    const faults::Alive before = faults::alive();
    // Few points, because each opens two devices and makes every plan three times.
    constexpr std::size_t usual = 2;
    for (const std::size_t point : faults::points_to_fail(faults::points(), usual)) {
      CAPTURE(point);
      lose(point);
      CHECK(faults::alive() == before);
      CHECK(scenario_.make(open_faulty())() == expected_);
    }
  }

 private:
  void lose(std::size_t point) {
    const Device device = open_faulty();
    Work work;
    faults::lose_at(point);
    const auto error = error_of([&] {
      work = scenario_.make(device);
      CHECK(work() == expected_);  // if the last point is one that is no longer needed
    });
    faults::stop();
    if (faults::failed() == nullptr) return;  // the number of points may vary with threads
    CAPTURE(faults::failed());
    if (error) CHECK_MESSAGE(is_of_a_loss(*error), error->what());
    CHECK(wrong_in_refusal([&] { static_cast<void>(device.make_buffer(64)); }) == "");
    CHECK(wrong_in_refusal([&] { static_cast<void>(device.make_stream()); }) == "");
    CHECK(wrong_in_refusal([&] { scenario_.make(device)(); }) == "");
    if (work) CHECK(wrong_in_refusal(work) == "");
    CHECK(device.info().backend == "faulty");
    CHECK(kept_() == expected_);
  }

  Scenario scenario_;
  Device other_ = open_faulty();
  Work kept_;
  Bytes expected_;
};

void lose_in_each(const std::vector<Scenario>& scenarios) {
  for (const Scenario& scenario : scenarios) {
    CAPTURE(scenario.name);
    Losses(scenario).run();
  }
}

constexpr Shape frame{96, 80, 1};

}  // namespace

TEST_CASE("lost devices: in copies and stages") { lose_in_each(faults::stage_scenarios()); }

TEST_CASE("lost devices: in registrations") { lose_in_each(faults::registration_scenarios()); }

TEST_CASE("lost devices: a batch loses one pair, and its other device continues") {
  const test::BlobImage reference = test::draw_blobs(frame, {});
  const test::BlobImage moving = test::draw_blobs(frame, Affine::translation(2, -1));
  const std::array<Device, 2> devices{open_faulty(), open_faulty()};
  constexpr std::size_t pairs = 12;
  std::latch both_have_registrars(2);
  const PairSource source = [&](std::size_t pair) {
    if (pair < 2) both_have_registrars.arrive_and_wait();
    if (pair == 4) faults::lose_at(20);
    return HostPair{reference.view(), moving.view()};
  };
  std::array<BatchResult, pairs> results;
  const PairSink sink = [&](std::size_t pair, BatchResult result) {
    results[pair] = std::move(result);
    return true;
  };
  align_batch(devices, pairs, source, sink, {}, {.streams_per_device = 1});
  faults::stop();
  REQUIRE(faults::failed() != nullptr);
  const auto lost = std::find_if(results.begin(), results.end(),
                                 [](const BatchResult& one) { return one.error.has_value(); });
  REQUIRE(lost != results.end());
  CHECK(is_of_a_loss(*lost->error));
  const std::size_t left = 1 - lost->device;
  CHECK(wrong_in_refusal([&] { static_cast<void>(devices[lost->device].make_buffer(64)); }) == "");
  Registrar alone(devices[left]);
  alone.set_reference(reference.view());
  const RegistrationResult expected = alone.align(moving.view());
  for (const BatchResult& one : results) {
    if (&one == &*lost) continue;
    REQUIRE(one.result.has_value());
    CHECK(one.result->homography.h == expected.homography.h);
  }
}

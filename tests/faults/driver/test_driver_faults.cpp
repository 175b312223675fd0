// Every call of the interface between core and backends fails once, for every public call.
//
// The device is one of tests/backend_faulty, which wraps another backend.
#include "faults/check.hpp"

namespace {

using namespace warpalign;

Config with_faulty_backend() {
  Config config = default_config();
  config.backends = {"faulty"};
  return config;
}

Device open_faulty() { return faults::open_device_of("faulty", with_faulty_backend()); }

/// The message must name the point that failed, or the consequence of its failure.
std::string wrong_in(const Error& error, const std::string& failed) {
  const std::string text = error.what();
  if (failed.empty()) return "an Error without a fault: " + text;
  if (text.find("injected fault") == std::string::npos) return "the Error hides the fault: " + text;
  if (error.context().stage.empty()) return "the Error names no stage: " + text;
  if (error.context().backend != "faulty") return "the Error names another backend: " + text;
  const ErrorKind kind = error.kind();
  const bool fits = kind == ErrorKind::out_of_memory || kind == ErrorKind::build_failed ||
                    kind == ErrorKind::device_failure || kind == ErrorKind::device_unavailable;
  return fits ? "" : "the Error is of a wrong kind: " + text;
}

}  // namespace

TEST_CASE("faults of drivers: points are counted") {
  const Device device = open_faulty();
  CHECK(device.info().backend == "faulty");
  const faults::Alive before = faults::alive();
  faults::count_points();
  {
    const Buffer buffer = device.make_buffer(1000);
    CHECK(faults::alive().bytes == before.bytes + 1000);
  }
  faults::stop();
  CHECK(faults::points() == 1);
  CHECK(faults::alive() == before);
  faults::fail_at(0);
  CHECK_THROWS_WITH_AS(static_cast<void>(device.make_buffer(1000)),
                       doctest::Contains("injected fault: allocate"), Error);
  faults::stop();
}

TEST_CASE("faults of drivers: opening a device") {
  const faults::Alive before = faults::alive();
  faults::count_points();
  static_cast<void>(open_faulty());
  faults::stop();
  const std::size_t points = faults::points();
  CHECK(points >= 2);
  for (std::size_t point = 0; point < points; ++point) {
    faults::fail_at(point);
    CHECK_THROWS_AS(static_cast<void>(open_faulty()), Error);
    faults::stop();
    CHECK(faults::alive() == before);
    CHECK_NOTHROW(static_cast<void>(open_faulty()));
  }
}

TEST_CASE("faults of drivers: copies and stages") {
  faults::Checker({&wrong_in}).sweep(faults::stage_scenarios(), open_faulty());
}

TEST_CASE("faults of drivers: registrations") {
  faults::Checker({&wrong_in}).sweep(faults::registration_scenarios(), open_faulty());
}

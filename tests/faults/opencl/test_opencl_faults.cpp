// Every OpenCL function that the backend calls fails once, for every public call (interposed.cpp).
#include "faults/check.hpp"

#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <cmath>
#include <cstring>

namespace {

using namespace warpalign;

Device open_opencl() { return faults::open_device_of("opencl", default_config()); }

/// An Error must name OpenCL and the failure: the call, or the library that made it.
std::string wrong_in(const Error& error, const std::string& failed) {
  const std::string text = error.what();
  if (failed.empty()) return "an Error without a fault: " + text;
  const bool lists = error.kind() == ErrorKind::device_unavailable;
  if (!lists && error.context().backend != "opencl") return "the Error names no OpenCL: " + text;
  const bool named = text.find(failed) != std::string::npos ||
                     text.find("VkFFTResult") != std::string::npos || lists;
  if (!named) return "the Error does not name " + failed + ": " + text;
  const ErrorKind kind = error.kind();
  const bool fits = kind == ErrorKind::out_of_memory || kind == ErrorKind::build_failed ||
                    kind == ErrorKind::device_failure || lists;
  return fits ? "" : "the Error is of a wrong kind: " + text;
}

/// If one FFT library cannot plan a transform another one does, with results that differ by
/// rounding.
bool is_nearly(const faults::Bytes& found, const faults::Bytes& expected) {
  std::vector<float> a(found.size() / sizeof(float));
  std::vector<float> b(expected.size() / sizeof(float));
  if (a.size() != b.size()) return false;
  std::memcpy(a.data(), found.data(), a.size() * sizeof(float));
  std::memcpy(b.data(), expected.data(), b.size() * sizeof(float));
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  // Twice the tolerance of a round trip (tests/stages/fft/test_fft.cpp), since both may be off by
  // it.
  return difference <= std::pow(8e-6, 2) * size;
}

/// Loses a device while OpenCL's functions report it as gone, and checks that it stays lost when
/// they work again, as they may for the device when it is opened again.
void lose_device(const faults::Scenario& scenario, std::size_t point,
                 const faults::Bytes& expected) {
  const Device device = open_opencl();
  faults::Work work;
  faults::lose_at(point);
  CHECK_THROWS_AS((work = scenario.make(device), work()), Error);
  CHECK_THROWS_AS(static_cast<void>(device.make_buffer(64)), Error);
  faults::stop();
  CAPTURE(std::string(faults::failed()));
  const char* const text = "the device was lost when an earlier call failed (CL_DEVICE_NOT_AVAIL";
  CHECK_THROWS_WITH_AS(static_cast<void>(device.make_buffer(64)), doctest::Contains(text), Error);
  CHECK_THROWS_WITH_AS(scenario.make(device)(), doctest::Contains(text), Error);
  if (work) CHECK_THROWS_WITH_AS(work(), doctest::Contains(text), Error);
  CHECK(scenario.make(open_opencl())() == expected);
}

}  // namespace

TEST_CASE("faults of OpenCL: the backend calls the interposed functions") {
  const Device device = open_opencl();
  const faults::Alive before = faults::alive();
  faults::count_points();
  {
    const Buffer buffer = device.make_buffer(1000);
    CHECK(faults::alive().objects == before.objects + 1);
  }
  faults::stop();
  CHECK(faults::points() == 1);
  CHECK(faults::alive() == before);
  faults::fail_at(0);
  CHECK_THROWS_WITH_AS(static_cast<void>(device.make_buffer(1000)),
                       doctest::Contains("clCreateBuffer"), Error);
  faults::stop();
}

TEST_CASE("faults of OpenCL: copies and stages") {
  faults::Checker({&wrong_in}).sweep(faults::stage_scenarios(), open_opencl());
}

TEST_CASE("faults of OpenCL: registrations") {
  faults::Checker({&wrong_in}).sweep(faults::registration_scenarios(), open_opencl());
}

TEST_CASE("faults of OpenCL: the C interface") {
  faults::Checker({&wrong_in}).sweep(faults::c_scenarios(), open_opencl());
}

TEST_CASE("faults of OpenCL: opening, building and planning") {
  faults::Checker({&wrong_in, {}, &is_nearly})
      .sweep_opening(faults::stage_scenarios(), &open_opencl);
}

namespace {

/// Loses the device at this number of evenly spread points of each scenario.
void lose_devices(const std::vector<faults::Scenario>& scenarios, std::size_t losses) {
  const Device other = open_opencl();
  for (const faults::Scenario& scenario : scenarios) {
    CAPTURE(scenario.name);
    const faults::Bytes expected = scenario.make(other)();
    faults::count_points();
    static_cast<void>(scenario.make(other)());
    faults::stop();
    const std::size_t points = faults::points();
    for (std::size_t i = 1; i <= losses; ++i) {
      lose_device(scenario, points * i / (losses + 1), expected);
    }
    CHECK(scenario.make(other)() == expected);
  }
}

}  // namespace

TEST_CASE("faults of OpenCL: a device that disappears is lost, and can be opened again") {
  lose_devices(faults::stage_scenarios(), 2);
}

TEST_CASE("faults of OpenCL: a device that disappears during a registration") {
  lose_devices(faults::registration_scenarios(), 1);
}

namespace {

/// Makes a plan repeatedly on a newly opened device, each time with the next OpenCL call failing.
/// Passes the call and the Error, or null, to `see`.
template <class MakePlan, class See>
void fail_each_call(const Config& config, const MakePlan& make_plan, const See& see) {
  for (std::size_t point = 0;; ++point) {
    const Device device = faults::open_device_of("opencl", config);
    faults::fail_at(point);
    try {
      make_plan(device);
      faults::stop();
      if (faults::failed() == nullptr) return;
      see(std::string(faults::failed()), nullptr);
    } catch (const Error& error) {
      faults::stop();
      see(std::string(faults::failed()), &error);
    }
  }
}

}  // namespace

TEST_CASE("faults of OpenCL: VkFFT's lack of memory is reported as out of memory") {
  Config config = default_config();
  config.opencl_fft = "vkfft";
  std::size_t buffers = 0;
  // For sizes with large prime factors VkFFT computes tables, with kernels on its own queue.
  const auto make_plan = [](const Device& device) {
    static_cast<void>(RealFftPlan(device, {{34, 38, 1}}));
  };
  // an earlier success shows that the plan is valid
  make_plan(faults::open_device_of("opencl", config));
  fail_each_call(config, make_plan, [&](const std::string& call, const Error* error) {
    if (call != "clCreateBuffer" && call != "clCreateCommandQueue") return;
    CAPTURE(call);
    ++buffers;
    REQUIRE(error != nullptr);
    CAPTURE(std::string(error->what()));
    CHECK(error->kind() == ErrorKind::out_of_memory);
    CHECK(error->context().call == call);
  });
  CHECK(buffers > 2);
}

TEST_CASE("faults of OpenCL: a plan does not create a queue for each of its constants") {
  std::size_t queues = 0;
  std::size_t writes = 0;
  const auto make_plans = [](const Device& device) {
    PrefilterSpec fir;
    fir.images.shape = {40, 30, 1};
    fir.spline.prefilter = PrefilterMethod::fir;
    static_cast<void>(PrefilterPlan(device, fir));
    fir.spline.taps = 21;
    static_cast<void>(PrefilterPlan(device, fir));
  };
  fail_each_call(default_config(), make_plans, [&](const std::string& call, const Error* error) {
    if (call == "clCreateCommandQueue") ++queues;
    if (call == "clEnqueueWriteBuffer") ++writes;
    CHECK(error != nullptr);
  });
  CHECK(writes == 2);
  CHECK(queues <= 1);  // none if opening the device has created it
}

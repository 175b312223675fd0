// Every allocation of host memory in the library fails once, for every public call.
//
// In C++ this throws std::bad_alloc, and in the C interface it gives a status.
#include "faults/check.hpp"
#include "faults/host/failing_new.hpp"
#include "support/blobs.hpp"

#include <warpalign/warpalign.h>

#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>

namespace {

using namespace warpalign;

Device open_opencl() { return faults::open_device_of("opencl", default_config()); }

/// The first device loads the backend's module, whose allocations count from then on.
Device open_and_prepare() {
  Device device = open_opencl();
  faults::prepare_failing_new();
  return device;
}

std::string wrong_in_error(const Error& error, const std::string& failed) {
  if (failed.empty()) return std::string("an Error without a fault: ") + error.what();
  return error.kind() == ErrorKind::out_of_memory
             ? ""
             : std::string("no lack of memory was reported: ") + error.what();
}

std::string wrong_in_exception(const std::exception& exception) {
  return dynamic_cast<const std::bad_alloc*>(&exception) != nullptr
             ? ""
             : std::string("another exception was thrown: ") + exception.what();
}

const faults::Expectation expectation{&wrong_in_error, &wrong_in_exception};

/// Registers through the C interface, and throws the exception of its status.
faults::Work through_c(const Device& /*device*/) {
  const auto opened = std::make_shared<warpalign_device>();
  const auto require = [](warpalign_status status) {
    if (status == WARPALIGN_OK) return;
    const bool memory = status == WARPALIGN_OUT_OF_MEMORY;
    if (memory && *warpalign_last_error() != '\0') throw std::bad_alloc();
    throw std::runtime_error(std::string(warpalign_status_name(status)) + ": " +
                             warpalign_last_error());
  };
  return [=] {
    static const test::BlobImage image = test::draw_blobs({64, 48, 1}, {});
    const warpalign_image view{image.pixels.data(), WARPALIGN_U8, 64, 48, 1, 0};
    warpalign_registration found{};
    found.struct_size = sizeof found;
    const char* named = std::getenv("WARPALIGN_FAULT_DEVICE");
    require(warpalign_open_device(named == nullptr ? "opencl:portable" : named, opened.get()));
    const std::shared_ptr<void> closes(nullptr, [=](void*) { warpalign_close_device(*opened); });
    require(warpalign_register(*opened, &view, &view, nullptr, &found));
    faults::Bytes bytes(sizeof found);
    std::memcpy(bytes.data(), &found, sizeof found);
    return bytes;
  };
}

}  // namespace

TEST_CASE("faults of the host: allocations of the library are counted, and no others") {
  const Device device = open_and_prepare();
  faults::count_points();
  static_cast<void>(device.make_buffer(1000));
  faults::stop();
  CHECK(faults::points() > 0);
  faults::count_points();
  const std::vector<int> numbers(100, 1);
  faults::stop();
  CHECK(numbers.size() == 100);
  CHECK(faults::points() == 0);
  faults::fail_at(0);
  CHECK_THROWS_AS(static_cast<void>(device.make_buffer(1000)), std::bad_alloc);
  faults::stop();
}

TEST_CASE("faults of the host: copies and stages") {
  faults::Checker(expectation).sweep(faults::stage_scenarios(), open_and_prepare());
}

TEST_CASE("faults of the host: registrations") {
  faults::Checker(expectation).sweep(faults::registration_scenarios(), open_and_prepare());
}

TEST_CASE("faults of the host: opening, building and planning") {
  static_cast<void>(open_and_prepare());
  faults::Checker(expectation).sweep_opening(faults::stage_scenarios(), &open_opencl);
}

TEST_CASE("faults of the host: the C interface") {
  const Device device = open_and_prepare();
  faults::Checker checker(expectation);
  checker.sweep({{"register in C, the device opened", &through_c}}, device);
  checker.sweep(faults::c_scenarios(), device);
}

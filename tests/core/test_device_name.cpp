// Parsing of device names, and matching them to devices.
#include "device/config/device_name.hpp"

#include <warpalign/error.hpp>

#include <doctest/doctest.h>

using warpalign::DeviceInfo;
using warpalign::detail::matching_devices;
using Indices = std::vector<std::size_t>;

namespace {

warpalign::detail::DeviceName parse_device_name(const std::string& name) {
  return warpalign::detail::parse_device_name(name, {"cuda", "opencl"});
}

}  // namespace

TEST_CASE("device_name: backends, indices and parts of names") {
  CHECK(parse_device_name("cuda").backend == "cuda");
  CHECK_FALSE(parse_device_name("cuda").index);
  CHECK(parse_device_name("OpenCL:12").index == 12);
  CHECK(parse_device_name("opencl:NVIDIA").part == "nvidia");
  CHECK(parse_device_name("opencl:4090 Ti").part == "4090 ti");
  // A number followed by other characters, or too large for an index, is a part of a name.
  CHECK(parse_device_name("opencl:2080 Ti").part == "2080 ti");
  CHECK_FALSE(parse_device_name("opencl:2080 Ti").index);
  CHECK_FALSE(parse_device_name("opencl:99999999999999999999").index);
  CHECK(parse_device_name("opencl:99999999999999999999").part == "99999999999999999999");
  for (const char* bad : {"", "gpu", "cuda:", ":0", "vulkan:0"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS((void)parse_device_name(bad), warpalign::Error);
  }
}

TEST_CASE("device_name: matching by index, by device and by platform") {
  DeviceInfo gpu;
  gpu.name = "NVIDIA H100";
  gpu.platform = "NVIDIA CUDA";
  DeviceInfo cpu;
  cpu.name = "pthread-Some Processor";
  cpu.platform = "Portable Computing Language";
  const std::vector<DeviceInfo> devices{gpu, cpu};
  const auto match = [&](const char* name) {
    return matching_devices(parse_device_name(name), devices);
  };
  CHECK(match("opencl") == Indices{0, 1});
  CHECK(match("opencl:1") == Indices{1});
  CHECK(match("opencl:2").empty());
  CHECK(match("opencl:h100") == Indices{0});
  CHECK(match("opencl:portable") == Indices{1});
  CHECK(match("opencl:pocl") == Indices{1});
  CHECK(match("opencl:amd").empty());
}

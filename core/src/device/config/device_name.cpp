// The names of devices for open_device().
#include "device/config/device_name.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace warpalign::detail {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

DeviceName parse_device_name(const std::string& name, const std::vector<std::string>& backends) {
  const std::size_t colon = name.find(':');
  DeviceName parsed;
  parsed.backend = lower(name.substr(0, colon));
  const std::string rest = colon == std::string::npos ? "" : name.substr(colon + 1);
  const bool known = std::find(backends.begin(), backends.end(), parsed.backend) != backends.end();
  if (!known || (colon != std::string::npos && rest.empty())) {
    throw Error(ErrorKind::invalid_argument,
                "'" + name +
                    "' is not a device name; use cuda:0, opencl:0, opencl:nvidia, ... "
                    "(`warpalign devices` lists all devices)");
  }
  std::size_t index = 0;
  const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
  if (!rest.empty() && failure == std::errc{} && end == rest.data() + rest.size()) {
    parsed.index = index;
  } else {
    parsed.part = lower(rest);
  }
  return parsed;
}

std::vector<std::size_t> matching_devices(const DeviceName& name,
                                          const std::vector<DeviceInfo>& devices) {
  std::vector<std::size_t> matches;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool fits = name.index
                          ? *name.index == i
                          : lower(devices[i].name).find(name.part) != std::string::npos ||
                                lower(devices[i].platform).find(name.part) != std::string::npos;
    if (fits) matches.push_back(i);
  }
  // PoCL calls its platform "Portable Computing Language"; also accept its common name.
  if (matches.empty() && name.part == "pocl") {
    return matching_devices({name.backend, {}, "portable computing language"}, devices);
  }
  return matches;
}

}  // namespace warpalign::detail

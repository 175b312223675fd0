// The arguments and the exit status of the programs that measure.
#pragma once

#include <warpalign/open_device.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tools {

/// The names in `NAME[,NAME...]`.
inline std::vector<std::string> split(const std::string& names) {
  std::istringstream stream(names);
  std::vector<std::string> all;
  for (std::string name; std::getline(stream, name, ',');) all.push_back(name);
  return all;
}

/// Opens each device of `DEVICE[,DEVICE...]`. Throws Error.
inline std::vector<warpalign::Device> open_devices(const std::string& names) {
  std::vector<warpalign::Device> devices;
  for (const std::string& name : split(names)) devices.push_back(warpalign::open_device(name));
  return devices;
}

/// A number that the user may give by its name.
struct NumberOption {
  double value = 0;    ///< the default
  double minimum = 0;  ///< smaller numbers are refused
};

struct MeasurementArguments {
  std::vector<warpalign::Device> devices;
  std::map<std::string, double> number;
};

/// Reads `DEVICE[,DEVICE...] [NAME NUMBER]...`. Nothing if a name is not among the options, a
/// number is too small, or the devices are missing. Throws Error if a device does not open.
inline std::optional<MeasurementArguments> read_arguments(
    int argc, char** argv, const std::map<std::string, NumberOption>& options) {
  MeasurementArguments read{open_devices(argc > 1 ? argv[1] : ""), {}};
  if (read.devices.empty() || argc % 2 != 0) return std::nullopt;
  for (const auto& [name, option] : options) read.number[name] = option.value;
  for (int i = 2; i + 1 < argc; i += 2) {
    const auto option = options.find(argv[i]);
    const double value = std::atof(argv[i + 1]);
    if (option == options.end() || value < option->second.minimum) return std::nullopt;
    read.number[option->first] = value;
  }
  return read;
}

/// Returns what `run(argc, argv)` returns, or reports its exception and returns 1.
template <class Run>
int measurement_main(int argc, char** argv, const char* program, Run run) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}

}  // namespace tools

// Names the packages that provide missing components.
#pragma once

#include <string>

namespace warpalign::program::doctor {

/// Names of packages; empty if the distribution has none, in which case `elsewhere` explains.
struct Packages {
  std::string debian;
  std::string fedora;
  std::string elsewhere;
};

[[nodiscard]] Packages opencl_loader_packages();
[[nodiscard]] Packages opencl_driver_packages();
[[nodiscard]] Packages clfft_packages();
/// The package of cuFFT with the soname that the dynamic loader did not find, from its message.
[[nodiscard]] Packages cufft_packages(const std::string& problem);
[[nodiscard]] Packages nvidia_driver_packages();
/// The package of a backend's module: warpalign's own.
[[nodiscard]] Packages module_packages(const std::string& backend);

/// The packages that a backend's module lacks, from the message of the dynamic loader.
[[nodiscard]] Packages packages_for_module(const std::string& backend, const std::string& problem);
/// The packages that a backend lacks whose module loads but finds no device.
[[nodiscard]] Packages packages_for_devices(const std::string& backend, const std::string& problem);

}  // namespace warpalign::program::doctor

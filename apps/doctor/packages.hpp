// The packages that bring what is missing.
#pragma once

#include <string>

namespace warpalign::program::doctor {

/// Names of packages; empty where the distribution has none, which `elsewhere` then explains.
struct Packages {
  std::string debian;
  std::string fedora;
  std::string elsewhere;
};

[[nodiscard]] Packages opencl_loader_packages();
[[nodiscard]] Packages opencl_driver_packages();
[[nodiscard]] Packages clfft_packages();
/// cuFFT of the soname that the dynamic loader did not find: "libcufft.so.12" in its message.
[[nodiscard]] Packages cufft_packages(const std::string& problem);
[[nodiscard]] Packages nvidia_driver_packages();
/// The module of a backend: warpalign's own package.
[[nodiscard]] Packages module_packages(const std::string& backend);

/// What a backend's module lacks, from the words of the dynamic loader.
[[nodiscard]] Packages packages_for_module(const std::string& backend, const std::string& problem);
/// What a backend lacks whose module loads and finds no device.
[[nodiscard]] Packages packages_for_devices(const std::string& backend, const std::string& problem);

}  // namespace warpalign::program::doctor

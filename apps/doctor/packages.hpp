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
[[nodiscard]] Packages cufft_packages();
[[nodiscard]] Packages nvidia_driver_packages();
/// The module of a backend: warpalign's own package.
[[nodiscard]] Packages module_packages(const std::string& backend);

}  // namespace warpalign::program::doctor

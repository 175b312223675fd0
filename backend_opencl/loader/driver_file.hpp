// One OpenCL driver without a loader: what the extension cl_khr_icd says that loaders do, for a
// single driver, where the machine has no loader.
#pragma once

#include <cstddef>
#include <string>

namespace warpalign::opencl {

struct DriverFile {
  const void* functions = nullptr;  ///< the driver's cl_icd_dispatch; null if it was not opened
  void* list_platforms = nullptr;   ///< its clIcdGetPlatformIDsKHR
  std::string problem;              ///< why it was not opened
};

/// Opens a driver's library, and never closes it.
[[nodiscard]] DriverFile open_driver_file(const std::string& file);

/// A function of the driver's; `slot` is where cl_icd_dispatch has it.
[[nodiscard]] void* function_of(const DriverFile& driver, const char* name,
                                std::size_t slot) noexcept;

}  // namespace warpalign::opencl

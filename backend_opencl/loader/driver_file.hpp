// Opens one OpenCL driver on a machine without a loader: does for a single driver what the
// extension cl_khr_icd specifies for loaders.
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

/// A function of the driver; `slot` is its index in cl_icd_dispatch.
[[nodiscard]] void* function_of(const DriverFile& driver, const char* name,
                                std::size_t slot) noexcept;

}  // namespace warpalign::opencl

// Finds the OpenCL drivers that are registered with the ICD loader.
#pragma once

#include <string>
#include <vector>

namespace warpalign::program::doctor {

struct IcdFile {
  std::string file;     ///< the .icd file; empty if the environment names a library directly
  std::string library;  ///< the library that it names, for dlopen()
  std::string problem;  ///< why the file is unusable; empty if it names a library
};

struct IcdList {
  std::string origin;  ///< where the loader searches, and why
  std::vector<IcdFile> files;
};

/// Searches in the same order as ocl-icd, which other loaders follow: $OCL_ICD_VENDORS (a folder,
/// an .icd file or a library), else $OPENCL_VENDOR_PATH, else /etc/OpenCL/vendors.
[[nodiscard]] IcdList find_icds();

}  // namespace warpalign::program::doctor

// The OpenCL drivers that the ICD loader is told of.
#pragma once

#include <string>
#include <vector>

namespace warpalign::program::doctor {

struct IcdFile {
  std::string file;     ///< the .icd file; empty where the environment names a library itself
  std::string library;  ///< what it names, as dlopen() takes it
  std::string problem;  ///< of the file; empty if it names a library
};

struct IcdList {
  std::string origin;  ///< where the loader looks, and why there
  std::vector<IcdFile> files;
};

/// As ocl-icd looks for them, which other loaders follow: $OCL_ICD_VENDORS (a folder, an .icd file
/// or a library), else $OPENCL_VENDOR_PATH, else /etc/OpenCL/vendors.
[[nodiscard]] IcdList find_icds();

}  // namespace warpalign::program::doctor

// Finds the OpenCL drivers that are registered with the ICD loader.
#include "doctor/icd_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace warpalign::program::doctor {
namespace {

using Path = std::filesystem::path;

constexpr const char* standard_folder = "/etc/OpenCL/vendors";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

IcdFile read_icd(const Path& file) {
  IcdFile icd{file.string(), {}, {}};
  std::ifstream stream(file);
  if (!stream) {
    icd.problem = "the file cannot be read";
    return icd;
  }
  std::getline(stream, icd.library);
  while (!icd.library.empty() && (icd.library.back() == '\r' || icd.library.back() == ' ')) {
    icd.library.pop_back();
  }
  if (icd.library.empty()) icd.problem = "the file names no library in its first line";
  return icd;
}

std::vector<IcdFile> read_folder(const Path& folder) {
  std::vector<IcdFile> icds;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".icd") icds.push_back(read_icd(entry.path()));
  }
  std::sort(icds.begin(), icds.end(),
            [](const IcdFile& a, const IcdFile& b) { return a.file < b.file; });
  return icds;
}

/// A name without slashes is first searched among the usual files.
Path icd_named(const std::string& name, const Path& folder) {
  std::error_code failed;
  if (name.find('/') == std::string::npos && std::filesystem::exists(folder / name, failed)) {
    return folder / name;
  }
  return name;
}

}  // namespace

IcdList find_icds() {
  const std::string vendor_path = variable("OPENCL_VENDOR_PATH");
  const Path folder = vendor_path.empty() ? standard_folder : vendor_path;
  const std::string named = variable("OCL_ICD_VENDORS");
  if (named.empty()) {
    return {folder.string() + (vendor_path.empty() ? "" : ", named by OPENCL_VENDOR_PATH"),
            read_folder(folder)};
  }
  IcdList list{named + ", named by OCL_ICD_VENDORS", {}};
  std::error_code failed;
  if (std::filesystem::is_directory(named, failed)) {
    list.files = read_folder(named);
  } else if (named.ends_with(".icd")) {
    list.files.push_back(read_icd(icd_named(named, folder)));
  } else {
    list.files.push_back({{}, named, {}});
  }
  return list;
}

}  // namespace warpalign::program::doctor

// Opens the OpenCL library once per process, and never closes it: drivers run their own threads.
//
// Takes the first of: the library that WARPALIGN_OPENCL_LOADER names; a loader that the process has
// already loaded, such as pyopencl's, because two loaders in one process crash; the system's
// loader. If there is none, or it finds no platform, and WARPALIGN_OPENCL_DRIVER names a driver,
// uses that driver without a loader.
#include "loader/loader.hpp"

#include "loader/driver_file.hpp"

#include <CL/cl.h>
#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>

namespace warpalign::opencl {
namespace {

constexpr const char* loader_variable = "WARPALIGN_OPENCL_LOADER";
constexpr const char* driver_variable = "WARPALIGN_OPENCL_DRIVER";
constexpr const char* default_name = "libOpenCL.so.1";

/// Empty if the variable is not set.
std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::string last_problem(const std::string& file) {
  const char* reason = dlerror();
  return reason == nullptr ? file : reason;
}

int find_loader(dl_phdr_info* info, std::size_t /*size*/, void* found) {
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* name = slash == nullptr ? info->dlpi_name : slash + 1;
  if (std::strncmp(name, "libOpenCL", std::strlen("libOpenCL")) != 0) return 0;
  *static_cast<std::string*>(found) = info->dlpi_name;
  return 1;
}

/// The file of the loader that the process has loaded, or empty.
std::string loaded_file() {
  std::string file;
  dl_iterate_phdr(find_loader, &file);
  return file;
}

bool has_platforms(void* loader) {
  auto* const list =
      reinterpret_cast<decltype(&clGetPlatformIDs)>(dlsym(loader, "clGetPlatformIDs"));
  cl_uint count = 0;
  return list != nullptr && list(0, nullptr, &count) == CL_SUCCESS && count > 0;
}

struct Library {
  void* loader = nullptr;
  DriverFile driver;
  std::string problem;
};

Library open_loader() {
  const std::string named = value_of(loader_variable);
  const std::string present = named.empty() ? loaded_file() : std::string();
  const std::string file = !named.empty() ? named : !present.empty() ? present : default_name;
  Library library;
  library.loader = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.loader == nullptr) {
    library.problem = "cannot open the OpenCL library: " + last_problem(file) +
                      (named.empty() ? "" : std::string(", named by ") + loader_variable);
  }
  return library;
}

Library open_library() {
  Library library = open_loader();
  const std::string driver = value_of(driver_variable);
  if (!value_of(loader_variable).empty()) return library;  // use no other library
  if (driver.empty() || (library.loader != nullptr && has_platforms(library.loader))) {
    return library;
  }
  library.driver = open_driver_file(driver);
  if (library.driver.functions != nullptr) {
    library.problem.clear();
    return library;
  }
  library.problem = (library.problem.empty() ? "OpenCL finds no platform" : library.problem) +
                    "; cannot open the driver that " + driver_variable +
                    " names: " + library.driver.problem;
  return library;
}

const Library& library() {
  static const Library opened = open_library();
  return opened;
}

}  // namespace

std::string opencl_library_problem() { return library().problem; }

void* find_opencl_function(const char* name, std::size_t slot) noexcept {
  const Library& opened = library();
  if (opened.driver.functions != nullptr) return function_of(opened.driver, name, slot);
  return opened.loader == nullptr ? nullptr : dlsym(opened.loader, name);
}

}  // namespace warpalign::opencl

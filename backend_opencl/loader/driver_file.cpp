// Opens one OpenCL driver without a loader.
#include "loader/driver_file.hpp"

#include <CL/cl_icd.h>
#include <dlfcn.h>

#include <cstring>

namespace warpalign::opencl {
namespace {

using FindExtension = void*(CL_API_CALL*)(const char*);
using ListPlatforms = cl_int(CL_API_CALL*)(cl_uint, cl_platform_id*, cl_uint*);

DriverFile failed(const std::string& problem) {
  DriverFile driver;
  driver.problem = problem;
  return driver;
}

}  // namespace

DriverFile open_driver_file(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return failed(reason == nullptr ? file : reason);
  }
  const auto find =
      reinterpret_cast<FindExtension>(dlsym(library, "clGetExtensionFunctionAddress"));
  void* list = find == nullptr ? nullptr : find("clIcdGetPlatformIDsKHR");
  if (list == nullptr) return failed(file + " is not an OpenCL driver with cl_khr_icd");
  cl_platform_id platform = nullptr;
  const cl_int status = reinterpret_cast<ListPlatforms>(list)(1, &platform, nullptr);
  if (status != CL_SUCCESS || platform == nullptr) {
    return failed(file + " has no platform (OpenCL status " + std::to_string(status) + ")");
  }
  // Every object of a driver begins with the address of the driver's table of functions.
  DriverFile driver;
  std::memcpy(&driver.functions, platform, sizeof driver.functions);
  driver.list_platforms = list;
  return driver;
}

void* function_of(const DriverFile& driver, const char* name, std::size_t slot) noexcept {
  if (std::strcmp(name, "clGetPlatformIDs") == 0) return driver.list_platforms;
  void* function = nullptr;
  std::memcpy(&function, static_cast<const char*>(driver.functions) + slot, sizeof function);
  return function;
}

}  // namespace warpalign::opencl

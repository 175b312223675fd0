// Opens the OpenCL library once a process, and never closes it: drivers have threads of their own.
#include "loader/loader.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace warpalign::opencl {
namespace {

constexpr const char* variable = "WARPALIGN_OPENCL_LOADER";
constexpr const char* usual_name = "libOpenCL.so.1";

struct Library {
  void* handle = nullptr;
  std::string problem;
};

Library open_library() {
  const char* named = std::getenv(variable);
  const bool is_named = named != nullptr && *named != '\0';
  const char* file = is_named ? named : usual_name;
  Library library;
  library.handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library.handle != nullptr) return library;
  const char* reason = dlerror();
  library.problem = std::string("the OpenCL library was not opened: ") +
                    (reason == nullptr ? file : reason) + (is_named ? ", named by " : "") +
                    (is_named ? variable : "");
  return library;
}

const Library& library() {
  static const Library opened = open_library();
  return opened;
}

}  // namespace

std::string opencl_library_problem() { return library().problem; }

void* find_opencl_function(const char* name) noexcept {
  void* handle = library().handle;
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

}  // namespace warpalign::opencl

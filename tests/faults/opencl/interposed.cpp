// Every OpenCL function that the backend calls, each of which can be made to fail.
//
// The program that links this file exports the functions under their own names (those of the
// backend's forwarders, which are compiled into it). The dynamic loader finds them there before
// those of the ICD loader, so the unmodified module of the backend calls these. Drivers call their
// own.
#include "faults/fault_points.hpp"
#include "loader/loader.hpp"

#include <CL/cl.h>
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace {

/// The functions that the module calls.
#define ALL_FUNCTIONS(_)                                                                           \
  _(clGetPlatformIDs)                                                                              \
  _(clGetPlatformInfo)                                                                             \
  _(clGetDeviceIDs)                                                                                \
  _(clGetDeviceInfo) _(clRetainDevice) _(clReleaseDevice) _(clCreateContext) _(clRetainContext) _( \
      clReleaseContext) _(clGetContextInfo) _(clGetSupportedImageFormats) _(clCreateCommandQueue)  \
      _(clRetainCommandQueue) _(clReleaseCommandQueue) _(clGetCommandQueueInfo) _(clFlush)         \
          _(clFinish) _(clCreateBuffer) _(clCreateSubBuffer) _(clCreateImage) _(clCreateSampler)   \
              _(clRetainMemObject) _(clReleaseMemObject) _(clGetMemObjectInfo) _(clReleaseSampler) \
                  _(clCreateProgramWithSource) _(clCreateProgramWithBinary) _(clBuildProgram)      \
                      _(clGetProgramInfo) _(clGetProgramBuildInfo) _(clRetainProgram)              \
                          _(clReleaseProgram) _(clCreateKernel) _(clSetKernelArg)                  \
                              _(clRetainKernel) _(clReleaseKernel) _(clEnqueueNDRangeKernel)       \
                                  _(clEnqueueReadBuffer) _(clEnqueueWriteBuffer)                   \
                                      _(clEnqueueWriteBufferRect) _(clEnqueueCopyBuffer)           \
                                          _(clEnqueueFillBuffer) _(clEnqueueWriteImage)            \
                                              _(clEnqueueCopyBufferToImage) _(clEnqueueMapBuffer)  \
                                                  _(clEnqueueUnmapMemObject)                       \
                                                      _(clEnqueueMarkerWithWaitList)               \
                                                          _(clEnqueueBarrierWithWaitList)          \
                                                              _(clWaitForEvents) _(clGetEventInfo) \
                                                                  _(clGetEventProfilingInfo)       \
                                                                      _(clRetainEvent)             \
                                                                          _(clReleaseEvent)

enum class Id : std::size_t {
#define ENUMERATOR(name) name,
  ALL_FUNCTIONS(ENUMERATOR)
#undef ENUMERATOR
      count
};

constexpr std::array names{
#define NAME(name) #name,
    ALL_FUNCTIONS(NAME)
#undef NAME
};

constexpr std::string_view name_of(Id id) { return names[static_cast<std::size_t>(id)]; }
constexpr bool retains(Id id) { return name_of(id).starts_with("clRetain"); }
constexpr bool releases(Id id) { return name_of(id).starts_with("clRelease"); }
constexpr bool waits(Id id) { return id == Id::clFinish || id == Id::clWaitForEvents; }
constexpr bool creates(Id id) { return name_of(id).starts_with("clCreate"); }

void* loader() {
  static void* const handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) std::abort();
  return handle;
}

cl_int status_for(Id id) {
  if (faults::is_loss()) return CL_DEVICE_NOT_AVAILABLE;
  switch (id) {
    case Id::clCreateBuffer:
    case Id::clCreateImage:
      return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    case Id::clBuildProgram:
      return CL_BUILD_PROGRAM_FAILURE;
    default:
      return CL_OUT_OF_RESOURCES;
  }
}

/// Returns the last argument.
template <class... Arguments>
auto last_of(Arguments... arguments) {
  return std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
}

template <Id id, class Function>
struct Interposed;

template <Id id, class Result, class... Arguments>
struct Interposed<id, Result(Arguments...)> {
  static Result CL_API_CALL call(Arguments... arguments) {
    if constexpr (!retains(id) && !releases(id)) {
      if (faults::reached(name_of(id).data())) return failure(arguments...);
      if (faults::is_loss()) return refusal(arguments...);
    }
    const Result result = real()(arguments...);
    count(result, arguments...);
    return result;
  }

 private:
  static auto real() {
    static const auto function =
        reinterpret_cast<Result(CL_API_CALL*)(Arguments...)>(dlsym(loader(), name_of(id).data()));
    return function;
  }

  /// A lost device refuses every call. PoCL itself is not lost: earlier commands continue to run,
  /// and could write to memory that is freed after a wait that failed.
  static Result refusal(Arguments... arguments) {
    if constexpr (waits(id)) static_cast<void>(real()(arguments...));
    return failure(arguments...);
  }

  static Result failure(Arguments... arguments) {
    if constexpr (std::is_same_v<Result, cl_int>) {
      return status_for(id);
    } else {
      const auto status = last_of(arguments...);
      static_assert(std::is_same_v<decltype(last_of(arguments...)), cl_int*>);
      if (status != nullptr) *status = status_for(id);
      return nullptr;
    }
  }

  /// Counts references to OpenCL objects.
  static void count(Result result, Arguments... arguments) {
    if constexpr (creates(id)) {
      if (result != nullptr) faults::born();
    } else if constexpr (retains(id)) {
      if (result == CL_SUCCESS) faults::born();
    } else if constexpr (releases(id)) {
      if (result == CL_SUCCESS) faults::gone();
    } else if constexpr (std::is_same_v<decltype(last_of(arguments...)), cl_event*>) {
      const bool made = last_of(arguments...) != nullptr && result == CL_SUCCESS;
      if (made) faults::born();
    }
  }
};

}  // namespace

namespace warpalign::opencl {

void* find_opencl_function(const char* name, std::size_t /*slot*/) noexcept {
  const std::string_view wanted = name;
#define FIND(function)                                                                     \
  if (wanted == #function) {                                                               \
    return reinterpret_cast<void*>(&Interposed<Id::function, decltype(::function)>::call); \
  }
  ALL_FUNCTIONS(FIND)
#undef FIND
  return nullptr;
}

}  // namespace warpalign::opencl

// Forwarders for the OpenCL functions that the module uses. Each calls the function of the opened
// library.
//
// The types come from the declarations in CL/cl.h. Only the number of arguments is written here,
// and a wrong number does not compile. If the module uses a function that is not listed, it does
// not link.
#include "loader/loader.hpp"

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <cstddef>
#include <tuple>

namespace {

template <typename Function>
struct Signature;
template <typename R, typename... A>
struct Signature<R CL_API_CALL(A...)> {
  using Result = R;
  template <std::size_t i>
  using Argument = std::tuple_element_t<i, std::tuple<A...>>;
  static constexpr std::size_t count = sizeof...(A);
};

// The result of a call without a library. Only the status of clGetPlatformIDs ever reaches the
// caller: without a platform no other function can be called.
cl_int missing(cl_int /*result*/) { return CL_PLATFORM_NOT_FOUND_KHR; }
template <typename Handle>
Handle* missing(Handle* /*result*/) {
  return nullptr;
}

template <typename Function, typename... A>
typename Signature<Function>::Result forward(void* address, A... arguments) {
  if (address == nullptr) return missing(typename Signature<Function>::Result{});
  return reinterpret_cast<Function*>(address)(arguments...);
}

}  // namespace

#define TYPE(name, i) Signature<decltype(name)>::Argument<i>
#define FORWARD(name, arity, parameters, ...)                                            \
  CL_API_ENTRY Signature<decltype(name)>::Result CL_API_CALL name parameters {           \
    static_assert(Signature<decltype(name)>::count == (arity));                          \
    static void* const address =                                                         \
        warpalign::opencl::find_opencl_function(#name, offsetof(cl_icd_dispatch, name)); \
    return forward<decltype(name)>(address, __VA_ARGS__);                                \
  }
#define FORWARD_1(name) FORWARD(name, 1, (TYPE(name, 0) a), a)
#define FORWARD_2(name) FORWARD(name, 2, (TYPE(name, 0) a, TYPE(name, 1) b), a, b)
#define FORWARD_3(name) \
  FORWARD(name, 3, (TYPE(name, 0) a, TYPE(name, 1) b, TYPE(name, 2) c), a, b, c)
#define FORWARD_4(name) \
  FORWARD(name, 4, (TYPE(name, 0) a, TYPE(name, 1) b, TYPE(name, 2) c, TYPE(name, 3) d), a, b, c, d)
#define FIVE(name) \
  TYPE(name, 0) a, TYPE(name, 1) b, TYPE(name, 2) c, TYPE(name, 3) d, TYPE(name, 4) e
#define FORWARD_5(name) FORWARD(name, 5, (FIVE(name)), a, b, c, d, e)
#define FORWARD_6(name) FORWARD(name, 6, (FIVE(name), TYPE(name, 5) f), a, b, c, d, e, f)
#define FORWARD_7(name) \
  FORWARD(name, 7, (FIVE(name), TYPE(name, 5) f, TYPE(name, 6) g), a, b, c, d, e, f, g)
#define NINE(name) FIVE(name), TYPE(name, 5) f, TYPE(name, 6) g, TYPE(name, 7) h, TYPE(name, 8) i
#define FORWARD_9(name) FORWARD(name, 9, (NINE(name)), a, b, c, d, e, f, g, h, i)
#define FORWARD_10(name) \
  FORWARD(name, 10, (NINE(name), TYPE(name, 9) j), a, b, c, d, e, f, g, h, i, j)
#define FORWARD_11(name)                                                                           \
  FORWARD(name, 11, (NINE(name), TYPE(name, 9) j, TYPE(name, 10) k), a, b, c, d, e, f, g, h, i, j, \
          k)
#define FORWARD_14(name)                                                                      \
  FORWARD(name, 14,                                                                           \
          (NINE(name), TYPE(name, 9) j, TYPE(name, 10) k, TYPE(name, 11) l, TYPE(name, 12) m, \
           TYPE(name, 13) n),                                                                 \
          a, b, c, d, e, f, g, h, i, j, k, l, m, n)

extern "C" {

FORWARD_3(clGetPlatformIDs)
FORWARD_5(clGetPlatformInfo)
FORWARD_5(clGetDeviceIDs)
FORWARD_5(clGetDeviceInfo)
FORWARD_1(clRetainDevice)
FORWARD_1(clReleaseDevice)
FORWARD_6(clCreateContext)
FORWARD_1(clRetainContext)
FORWARD_1(clReleaseContext)
FORWARD_5(clGetContextInfo)
FORWARD_6(clGetSupportedImageFormats)

FORWARD_4(clCreateCommandQueue)
FORWARD_1(clRetainCommandQueue)
FORWARD_1(clReleaseCommandQueue)
FORWARD_5(clGetCommandQueueInfo)
FORWARD_1(clFlush)
FORWARD_1(clFinish)

FORWARD_5(clCreateBuffer)
FORWARD_5(clCreateSubBuffer)
FORWARD_6(clCreateImage)
FORWARD_5(clCreateSampler)
FORWARD_1(clRetainMemObject)
FORWARD_1(clReleaseMemObject)
FORWARD_5(clGetMemObjectInfo)
FORWARD_1(clReleaseSampler)

FORWARD_5(clCreateProgramWithSource)
FORWARD_7(clCreateProgramWithBinary)
FORWARD_6(clBuildProgram)
FORWARD_5(clGetProgramInfo)
FORWARD_6(clGetProgramBuildInfo)
FORWARD_1(clRetainProgram)
FORWARD_1(clReleaseProgram)

FORWARD_3(clCreateKernel)
FORWARD_4(clSetKernelArg)
FORWARD_1(clRetainKernel)
FORWARD_1(clReleaseKernel)

FORWARD_9(clEnqueueNDRangeKernel)
FORWARD_9(clEnqueueReadBuffer)
FORWARD_9(clEnqueueWriteBuffer)
FORWARD_14(clEnqueueWriteBufferRect)
FORWARD_9(clEnqueueCopyBuffer)
FORWARD_9(clEnqueueFillBuffer)
FORWARD_11(clEnqueueWriteImage)
FORWARD_9(clEnqueueCopyBufferToImage)
FORWARD_10(clEnqueueMapBuffer)
FORWARD_6(clEnqueueUnmapMemObject)
FORWARD_4(clEnqueueMarkerWithWaitList)
FORWARD_4(clEnqueueBarrierWithWaitList)

FORWARD_2(clWaitForEvents)
FORWARD_5(clGetEventInfo)
FORWARD_5(clGetEventProfilingInfo)
FORWARD_1(clRetainEvent)
FORWARD_1(clReleaseEvent)

}  // extern "C"

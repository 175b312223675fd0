// Boost.Compute's owning handles, and none of its algorithms. They take seconds to compile, so
// include this header only from .cpp files and from headers that only .cpp files include.
#pragma once

#include <warpalign/backend/fork.hpp>

#include <CL/cl.h>

namespace warpalign::opencl {

/// Releases a handle, but not in a forked process, where NVIDIA's driver crashes. What a child
/// inherits belongs to its parent, and ends with the child.
template <class Handle>
cl_int release_here(cl_int(CL_API_CALL* release)(Handle), Handle handle) noexcept {
  return backend::is_forked() ? CL_SUCCESS : release(handle);
}

}  // namespace warpalign::opencl

// The handles' destructors call these.
#define clReleaseCommandQueue(queue) \
  (::warpalign::opencl::release_here(&::clReleaseCommandQueue, queue))
#define clReleaseContext(context) (::warpalign::opencl::release_here(&::clReleaseContext, context))
#define clReleaseEvent(event) (::warpalign::opencl::release_here(&::clReleaseEvent, event))
#define clReleaseKernel(kernel) (::warpalign::opencl::release_here(&::clReleaseKernel, kernel))
#define clReleaseMemObject(memory) \
  (::warpalign::opencl::release_here(&::clReleaseMemObject, memory))
#define clReleaseProgram(program) (::warpalign::opencl::release_here(&::clReleaseProgram, program))
#define clReleaseSampler(sampler) (::warpalign::opencl::release_here(&::clReleaseSampler, sampler))

#include <boost/compute/buffer.hpp>
#include <boost/compute/command_queue.hpp>
#include <boost/compute/context.hpp>
#include <boost/compute/event.hpp>
#include <boost/compute/image/image_object.hpp>
#include <boost/compute/image/image_sampler.hpp>
#include <boost/compute/kernel.hpp>
#include <boost/compute/program.hpp>

#undef clReleaseCommandQueue
#undef clReleaseContext
#undef clReleaseEvent
#undef clReleaseKernel
#undef clReleaseMemObject
#undef clReleaseProgram
#undef clReleaseSampler

namespace warpalign::opencl {
namespace compute = boost::compute;
}

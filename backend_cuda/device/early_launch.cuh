// Kernels that are put in place while the work before them ends.
//
// Between one kernel and the next of a stream 1.2 us pass on an H100: a tenth of what the stages of
// a registration take. Such a kernel's blocks take their places as those of the work before leave
// them and wait in await_previous(), so that nothing passes. (Programmatic dependent launch:
// compute capability 9.0; elsewhere these are plain launches. Letting the next kernel in from the
// start on is no faster, and its idle blocks made a small kernel before them take half as long
// again.)
#pragma once

#include "device/launch.hpp"

namespace warpalign::cuda {

/// The first statement of every kernel launched early: until it returns, nothing that the kernel
/// reads need be there, and nothing that it writes may be overwritten.
__device__ __forceinline__ void await_previous() {
#if __CUDA_ARCH__ >= 900
  // Also for the compiler: no load may be moved before this.
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// As launch_with_shared(), of a kernel that begins with await_previous().
template <class... Parameters, class... Arguments>
void launch_early_with_shared(const CallSite& site, const backend::Queue& queue, dim3 grid,
                              dim3 block, std::size_t shared_bytes, void (*kernel)(Parameters...),
                              Arguments... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  launch_with_attribute(site, queue, grid, block, shared_bytes,
                        site.context.early_launch ? &early : nullptr, kernel, arguments...);
}

template <class... Parameters, class... Arguments>
void launch_early(const CallSite& site, const backend::Queue& queue, dim3 grid, dim3 block,
                  void (*kernel)(Parameters...), Arguments... arguments) {
  launch_early_with_shared(site, queue, grid, block, 0, kernel, arguments...);
}

}  // namespace warpalign::cuda

// Kernel launches that overlap with the end of the previous work in the stream.
//
// Consecutive kernels of a stream are 1.2 us apart on an H100, a tenth of the duration of a
// registration's stages. The blocks of a kernel that is launched early become resident as the
// blocks of the previous work leave the multiprocessors, and wait in wait_for_previous_kernel(). This closes
// the gap. It is programmatic dependent launch, which needs compute capability 9.0; on other
// devices these are ordinary launches. To admit the next kernel right from the start of the
// previous one is no faster, and its idle blocks slowed down a small kernel before them by half.
#pragma once

#include "device/launch.hpp"

namespace warpalign::cuda {

/// Must be the first statement of every kernel that is launched early. Before it returns, the
/// kernel's inputs may not have been written yet, and its outputs may still be in use.
__device__ __forceinline__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  // The "memory" clobber also keeps the compiler from moving a load before this.
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Like launch_with_shared(), for a kernel that begins with wait_for_previous_kernel().
template <class... Parameters, class... Arguments>
void launch_dependent_with_shared(const CallSite& site, const backend::Queue& queue, dim3 grid,
                              dim3 block, std::size_t shared_bytes, void (*kernel)(Parameters...),
                              Arguments... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  launch_with_attribute(site, queue, grid, block, shared_bytes,
                        site.context.dependent_launch ? &early : nullptr, kernel, arguments...);
}

template <class... Parameters, class... Arguments>
void launch_dependent(const CallSite& site, const backend::Queue& queue, dim3 grid, dim3 block,
                  void (*kernel)(Parameters...), Arguments... arguments) {
  launch_dependent_with_shared(site, queue, grid, block, 0, kernel, arguments...);
}

}  // namespace warpalign::cuda

// Launches of kernels that overlap with the end of the work before them.
//
// Between consecutive kernels of a stream 1.2 us pass on an H100, a tenth of what the stages of a
// registration take. The blocks of a kernel that is launched early become resident as those of the
// previous work leave the multiprocessors, and wait in await_previous(), which removes the gap.
// This is programmatic dependent launch, which needs compute capability 9.0; on other devices these
// are plain launches. Letting the next kernel in right from the start of the previous one is no
// faster, and its idle blocks made a small kernel before them take half as long again.
#pragma once

#include "device/launch.hpp"

namespace warpalign::cuda {

/// Must be the first statement of every kernel that is launched early. Until it returns, the
/// kernel's inputs may not have been written yet, and its outputs may still be in use.
__device__ __forceinline__ void await_previous() {
#if __CUDA_ARCH__ >= 900
  // The "memory" clobber also keeps the compiler from moving a load before this.
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// As launch_with_shared(), for a kernel that begins with await_previous().
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

// Pinned host memory.
#include "device/host_memory.hpp"

#include "device/errors.hpp"

#include <cuda_runtime_api.h>

namespace warpalign::cuda {

PinnedMemory::PinnedMemory(const CallSite& site, std::size_t bytes) : context_(site.context) {
  context_.activate();
  check(cudaHostAlloc(&data_, bytes, cudaHostAllocDefault), "cudaHostAlloc", site);
  context_.count_allocation();
}

PinnedMemory::~PinnedMemory() {
  context_.activate_quietly();
  static_cast<void>(cudaFreeHost(data_));
}

}  // namespace warpalign::cuda

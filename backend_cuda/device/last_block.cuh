// Reductions in a single kernel: the last block to finish combines the partial results of all
// blocks.
//
// Each reduction has a counter, which is 0 when the kernel starts; the last block resets it.
#pragma once

#include "device/memory.hpp"
#include "device/queue.hpp"

#include <cuda_runtime.h>

#include <vector>

namespace warpalign::cuda {

/// Whether this block is the last of `blocks` to arrive here; all its threads get the same answer.
/// If so, they can read with load_fresh() what thread 0 of the other blocks wrote before arriving.
__device__ __forceinline__ bool is_last_block(unsigned* counter, unsigned blocks) {
  __shared__ bool last;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    __threadfence();
    last = atomicAdd(counter, 1U) == blocks - 1;
    if (last) *counter = 0;
  }
  __syncthreads();
  return last;
}

/// Reads data that another block wrote, bypassing this multiprocessor's own cache.
template <class T>
__device__ __forceinline__ T load_fresh(const T* source) {
  static_assert(sizeof(T) % 8 == 0 && alignof(T) == 8);
  union {
    unsigned long long words[sizeof(T) / 8];
    T value;
  } copy;
#pragma unroll
  for (unsigned i = 0; i < sizeof(T) / 8; ++i) {
    copy.words[i] = __ldcg(reinterpret_cast<const unsigned long long*>(source) + i);
  }
  return copy.value;
}

/// Counters for `count` reductions, initialised to 0.
class Counters {
 public:
  Counters(const CallSite& site, std::size_t count) : memory_(site, count * sizeof(unsigned)) {
    const std::vector<unsigned> zeros(count, 0U);
    const std::size_t bytes = count * sizeof(unsigned);
    site.context.service->upload(zeros.data(), bytes, memory_.as<void>(), site);
  }
  [[nodiscard]] unsigned* get() const noexcept { return memory_.as<unsigned>(); }

 private:
  DeviceMemory memory_;
};

}  // namespace warpalign::cuda

// A few bytes on their way to pinned host memory.
#include "readback.hpp"

#include "errors.hpp"
#include "memory.hpp"

namespace warpalign::cuda {

PinnedReadback::PinnedReadback(const Context& context, std::size_t bytes)
    : context_(context), bytes_(bytes), arrived_(context, cudaEventDisableTiming) {
  check(cudaHostAlloc(&host_, bytes, cudaHostAllocDefault), "cudaHostAlloc", Place{context_});
}

PinnedReadback::~PinnedReadback() {
  context_.activate_quietly();
  if (under_way_) static_cast<void>(cudaEventSynchronize(arrived_.get()));
  static_cast<void>(cudaFreeHost(host_));
}

void PinnedReadback::enqueue(backend::Queue& queue, const backend::Memory& source) {
  context_.activate();
  const cudaStream_t stream = stream_of(queue);
  check(cudaMemcpyAsync(host_, data<char>(source), bytes_, cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync", Place{context_});
  under_way_ = true;
  check(cudaEventRecord(arrived_.get(), stream), "cudaEventRecord", Place{context_});
}

const void* PinnedReadback::wait() {
  context_.activate();
  check(cudaEventSynchronize(arrived_.get()), "cudaEventSynchronize", Place{context_});
  under_way_ = false;
  return host_;
}

}  // namespace warpalign::cuda

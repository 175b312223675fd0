// Pinned host memory that a kernel fills.
#include "device/pinned_slot.hpp"

#include "device/dependent_launch.cuh"
#include "device/errors.hpp"
#include "device/last_block.cuh"
#include "device/queue.hpp"

#include <atomic>
#include <thread>

namespace warpalign::cuda {
namespace {

constexpr int threads = 256;
constexpr std::int64_t bytes_per_block = std::int64_t{16} << 10;
constexpr unsigned polls_per_query = 1U << 10;  // about 50 us

// Sets `arrived` to 1 only after the bytes are visible, also to the host.
__global__ void __launch_bounds__(threads)
    store_kernel(const char* __restrict__ source, std::size_t bytes, char* __restrict__ target,
                 unsigned* arrived, unsigned* counter) {
  wait_for_previous_kernel();
  const std::size_t words = bytes / sizeof(unsigned);
  const auto* from = reinterpret_cast<const unsigned*>(source);
  auto* to = reinterpret_cast<unsigned*>(target);
  const std::size_t first = blockIdx.x * threads + threadIdx.x;
  const std::size_t step = gridDim.x * threads;
#pragma unroll 4
  for (std::size_t i = first; i < words; i += step) to[i] = from[i];
  for (std::size_t i = words * sizeof(unsigned) + first; i < bytes; i += step) {
    target[i] = source[i];
  }
  __threadfence_system();
  __syncthreads();
  const bool last = gridDim.x == 1 || is_last_block(counter, gridDim.x);
  if (last && threadIdx.x == 0) *static_cast<volatile unsigned*>(arrived) = 1;
}

unsigned blocks_for(std::size_t bytes) {
  return static_cast<unsigned>(divide_up(static_cast<std::int64_t>(bytes), bytes_per_block));
}

// Yields the core to its other hardware thread for a moment.
void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

std::size_t padded(std::size_t bytes) {
  return (bytes + sizeof(unsigned) - 1) / sizeof(unsigned) * sizeof(unsigned);
}

}  // namespace

PinnedSlot::PinnedSlot(const Context& context, std::size_t bytes)
    : context_(context), bytes_(bytes) {
  const CallSite site{context_};
  if (blocks_for(bytes) > 1) counter_ = std::make_unique<Counters>(site, 1);
  load(&store_kernel, site);
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, padded(bytes) + sizeof(unsigned), cudaHostAllocMapped),
        "cudaHostAlloc", site);
  context.count_allocation();
  host_ = static_cast<char*>(memory);
  word_ = reinterpret_cast<unsigned*>(host_ + padded(bytes));
  *word_ = 1;
  void* mapped = nullptr;
  const cudaError_t code = cudaHostGetDevicePointer(&mapped, host_, 0);
  if (code != cudaSuccess) static_cast<void>(cudaFreeHost(host_));
  check(code, "cudaHostGetDevicePointer", site);
  mapped_ = static_cast<char*>(mapped);
}

PinnedSlot::~PinnedSlot() {
  context_.activate_quietly();
  if (!arrived()) static_cast<void>(filling_->synchronize());
  static_cast<void>(cudaFreeHost(host_));
}

bool PinnedSlot::arrived() const noexcept {
  return std::atomic_ref<unsigned>(*word_).load(std::memory_order_acquire) != 0;
}

void PinnedSlot::set_arrived(bool there) noexcept {
  std::atomic_ref<unsigned>(*word_).store(there ? 1 : 0, std::memory_order_release);
}

void PinnedSlot::enqueue(const backend::Queue& queue, const void* source, std::size_t bytes) {
  const CallSite site{context_};
  context_.activate();
  // Do not mistake an earlier result, which no thread has waited for, for the new one.
  if (!arrived()) check(filling_->synchronize(), "cudaStreamSynchronize", site);
  filling_ = static_cast<const StreamQueue&>(queue).handle();
  set_arrived(false);
  try {
    launch_dependent(site, queue, dim3(blocks_for(bytes)), dim3(threads), &store_kernel,
                 static_cast<const char*>(source), bytes, mapped_,
                 reinterpret_cast<unsigned*>(mapped_ + padded(bytes_)),
                 counter_ ? counter_->get() : nullptr);
  } catch (...) {
    set_arrived(true);  // no copy is in flight
    throw;
  }
}

// On a failing device the bytes never arrive, so wait() queries the state of the stream from time
// to time.
const void* PinnedSlot::wait() {
  for (unsigned polls = 1; !arrived(); ++polls) {
    relax();
    if (polls % polls_per_query != 0) continue;
    context_.activate();
    const cudaError_t code = filling_->query();
    if (code == cudaErrorNotReady) {
      static_cast<void>(cudaGetLastError());
      std::this_thread::yield();
      continue;
    }
    if (code == cudaSuccess && arrived()) break;
    set_arrived(true);
    check(code == cudaSuccess ? cudaErrorUnknown : code, "cudaStreamQuery", CallSite{context_});
  }
  return host_;
}

}  // namespace warpalign::cuda

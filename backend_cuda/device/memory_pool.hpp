// A pool of freed device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace warpalign::cuda {

struct CallSite;

/// cudaMalloc and cudaFree take 10 to 100 microseconds, and cudaFree waits for all work on the
/// device, including that of other threads. Plans for images of a new size allocate some hundred
/// small blocks, so the pool keeps freed ones. It reuses a block only after the device has finished
/// all work that was enqueued before it was freed, as if cudaFree had waited.
class MemoryPool {
 public:
  struct Block {
    void* address = nullptr;
    std::size_t bytes = 0;
  };

  /// Keeps at most `max_kept` bytes; with 0 the pool calls cudaMalloc and cudaFree directly.
  explicit MemoryPool(int ordinal, std::size_t max_kept = max_kept_bytes());
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool();

  /// A block of at least this size. The device must be the thread's current one, here and below.
  [[nodiscard]] Block take(std::size_t bytes, const CallSite& site);
  /// Takes a block back, and destroys the textures over it when no work can read through them.
  void give_back(Block block, std::vector<cudaTextureObject_t> textures) noexcept;

  /// The value of WARPALIGN_CUDA_POOL_MIB, by default 256 MiB.
  [[nodiscard]] static std::size_t max_kept_bytes();

 private:
  void finish_freed() noexcept;
  void free_all() noexcept;
  [[nodiscard]] void* idle_block(std::size_t bytes) noexcept;

  int ordinal_;
  std::size_t max_kept_;
  std::mutex mutex_;
  std::multimap<std::size_t, void*> idle_;  ///< by size; not in use
  std::vector<Block> freed_;                ///< work in flight may still use them
  std::vector<cudaTextureObject_t> textures_;
  std::size_t kept_bytes_ = 0;  ///< of both
};

}  // namespace warpalign::cuda

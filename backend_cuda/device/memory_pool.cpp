// A pool of freed device memory.
#include "device/memory_pool.hpp"

#include "device/errors.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace warpalign::cuda {

namespace {

// Larger blocks are few, and would displace many small ones.
constexpr std::size_t max_block = std::size_t{16} << 20;
constexpr std::size_t default_kept = std::size_t{256} << 20;
constexpr const char* variable = "WARPALIGN_CUDA_POOL_MIB";

/// Rounds a size up to one of four steps between powers of two, so that blocks can be reused more
/// often; at most a fifth of a block is left unused.
std::size_t rounded(std::size_t bytes) {
  constexpr std::size_t granule = 512;  // of cudaMalloc
  const std::size_t step = std::max(granule, std::bit_floor(bytes) / 4);
  return (bytes + step - 1) / step * step;
}

}  // namespace

std::size_t MemoryPool::max_kept_bytes() {
  const char* set = std::getenv(variable);
  if (set == nullptr || *set == '\0') return default_kept;
  const std::string_view text = set;
  std::size_t mebibytes = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), mebibytes);
  constexpr std::size_t most = std::size_t{1} << 24;
  if (problem != std::errc() || rest != text.data() + text.size() || mebibytes > most) {
    throw Error(ErrorKind::invalid_argument,
                std::string(variable) + "=" + set +
                    ": invalid, give the mebibytes of freed device memory to keep for reuse");
  }
  return mebibytes << 20;
}

MemoryPool::MemoryPool(int ordinal, std::size_t max_kept)
    : ordinal_(ordinal), max_kept_(max_kept) {}

MemoryPool::~MemoryPool() {
  static_cast<void>(cudaSetDevice(ordinal_));
  free_all();
}

MemoryPool::Block MemoryPool::take(std::size_t bytes, const CallSite& site) {
  const bool pooled = max_kept_ > 0 && bytes > 0 && bytes <= max_block;
  const std::size_t size = pooled ? rounded(bytes) : bytes;
  const std::scoped_lock lock(mutex_);
  if (pooled) {
    void* kept = idle_block(size);
    const bool is_freed = std::any_of(freed_.begin(), freed_.end(),
                                      [&](const Block& block) { return block.bytes == size; });
    if (kept == nullptr && is_freed) {
      finish_freed();
      kept = idle_block(size);
    }
    if (kept != nullptr) {
      check_allocation(cudaSuccess, "cudaMalloc", size, site);
      return {kept, size};
    }
  }
  void* address = nullptr;
  cudaError_t code = cudaMalloc(&address, size);
  if (code == cudaErrorMemoryAllocation && kept_bytes_ > 0) {
    static_cast<void>(cudaGetLastError());
    free_all();
    code = cudaMalloc(&address, size);
  }
  check_allocation(code, "cudaMalloc", bytes, site);
  return {address, size};
}

void MemoryPool::give_back(Block block, std::vector<cudaTextureObject_t> textures) noexcept {
  if (block.address == nullptr) return;
  const std::scoped_lock lock(mutex_);
  if (block.bytes <= max_block && block.bytes <= max_kept_) {
    if (kept_bytes_ + block.bytes > max_kept_) free_all();
    try {
      freed_.reserve(freed_.size() + 1);
      textures_.insert(textures_.end(), textures.begin(), textures.end());
      freed_.push_back(block);
      kept_bytes_ += block.bytes;
      return;
    } catch (const std::bad_alloc&) {
      // The host has no memory left, so the pool keeps none on the device either.
    }
  }
  // Frees the memory first, because cudaFree waits for kernels that may still read through the
  // textures.
  static_cast<void>(cudaFree(block.address));
  for (const cudaTextureObject_t texture : textures) {
    static_cast<void>(cudaDestroyTextureObject(texture));
  }
}

/// Removes a block of exactly this size from the pool and returns it; null if there is none.
void* MemoryPool::idle_block(std::size_t bytes) noexcept {
  const auto found = idle_.find(bytes);
  if (found == idle_.end()) return nullptr;
  void* const address = found->second;
  idle_.erase(found);
  kept_bytes_ -= bytes;
  return address;
}

/// Waits for the device; the freed blocks are idle then.
void MemoryPool::finish_freed() noexcept {
  static_cast<void>(cudaDeviceSynchronize());
  for (const cudaTextureObject_t texture : textures_) {
    static_cast<void>(cudaDestroyTextureObject(texture));
  }
  textures_.clear();
  for (const Block& block : std::exchange(freed_, {})) {
    try {
      idle_.emplace(block.bytes, block.address);
    } catch (const std::bad_alloc&) {
      static_cast<void>(cudaFree(block.address));
      kept_bytes_ -= block.bytes;
    }
  }
}

void MemoryPool::free_all() noexcept {
  finish_freed();
  for (const auto& [bytes, address] : std::exchange(idle_, {})) {
    static_cast<void>(cudaFree(address));
  }
  kept_bytes_ = 0;
}

}  // namespace warpalign::cuda

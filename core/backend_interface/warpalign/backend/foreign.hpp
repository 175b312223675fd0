// Unowned objects: memory, queues and events of the vendor's API that belong to the caller. Core
// passes on their handles without knowing their types.
#pragma once

#include <cstddef>

namespace warpalign::backend {

/// A handle of the vendor's API: a CUDA device pointer, a cl_mem, a cudaStream_t, a cl_context, ...
using NativeHandle = void*;

/// The alignment that the caller's memory must have, in bytes: kernels load this many at once.
inline constexpr std::size_t unowned_alignment = 16;

struct UnownedMemory {
  NativeHandle handle = nullptr;  ///< a device pointer or a memory object
  std::size_t offset = 0;         ///< in bytes, from the beginning of the handle's memory
  std::size_t bytes = 0;
  bool read_only = false;
};

/// The location of memory. Two allocations can overlap only if `space` is the same.
struct Location {
  const void* space = nullptr;
  std::size_t begin = 0;  ///< in bytes
};

}  // namespace warpalign::backend

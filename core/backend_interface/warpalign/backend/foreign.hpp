// What the caller brings: memory, queues and events of the vendor's API. Core passes their handles
// on without knowing their types.
#pragma once

#include <cstddef>

namespace warpalign::backend {

/// A handle of the vendor's API: a CUDA device pointer, a cl_mem, a cudaStream_t, a cl_context, ...
using NativeHandle = void*;

/// Where the caller's memory must begin: at a multiple of this many bytes, which is what kernels
/// load at once.
inline constexpr std::size_t foreign_alignment = 16;

struct ForeignMemory {
  NativeHandle handle = nullptr;  ///< a device pointer, or an object that holds the memory
  std::size_t offset = 0;         ///< in bytes, from where the handle's memory begins
  std::size_t bytes = 0;
  bool read_only = false;
};

/// Where memory lies. Two pieces of memory can overlap only if `space` is the same.
struct Location {
  const void* space = nullptr;
  std::size_t begin = 0;  ///< in bytes
};

}  // namespace warpalign::backend

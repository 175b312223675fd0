// Constants of a plan in device memory.
#pragma once

#include "device/memory.hpp"

#include <vector>

namespace warpalign::opencl {

/// A copy in device memory that kernels of every queue may read. A blocking write alone would not
/// do: it returns when the host memory may be reused, and the device may still be copying.
[[nodiscard]] Handle<cl_mem> upload_constants(const Context& context, const void* values,
                                              std::size_t bytes, const char* stage);
[[nodiscard]] Handle<cl_mem> upload_floats(const Context& context, const std::vector<float>& values,
                                           const char* stage);

}  // namespace warpalign::opencl

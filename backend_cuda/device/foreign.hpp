// Checks objects that the caller made with CUDA. All checks throw Error(invalid_argument).
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/foreign.hpp>

#include <cuda_runtime_api.h>

#include <string>

namespace warpalign::cuda {

[[noreturn]] void refuse_unowned(const Context& context, const std::string& message,
                                 const std::string& advice = {});

/// Returns the address of the caller's memory. Checks that it is device memory or managed memory of
/// this device, aligned, and as large as stated, as far as the driver knows.
[[nodiscard]] void* checked_address(const Context& context, const backend::UnownedMemory& memory);

/// Checks that the stream belongs to this device, by recording `event` on it, which the runtime
/// refuses otherwise.
void check_stream(const Context& context, cudaStream_t stream, cudaEvent_t event);

}  // namespace warpalign::cuda

// Checks of what the caller made with CUDA itself. All throw Error(invalid_argument).
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/foreign.hpp>

#include <cuda_runtime_api.h>

#include <string>

namespace warpalign::cuda {

[[noreturn]] void refuse_foreign(const Context& context, const std::string& message,
                                 const std::string& advice = {});

/// The address of the caller's memory, which must be device memory or managed memory of this
/// device, aligned, and have that many bytes as far as the driver knows.
[[nodiscard]] void* checked_address(const Context& context, const backend::ForeignMemory& memory);

/// The stream must be of this device. `event` is recorded on it, which the runtime refuses
/// otherwise.
void check_stream(const Context& context, cudaStream_t stream, cudaEvent_t event);

}  // namespace warpalign::cuda

// Converts failures of the CUDA runtime to warpalign::Error.
#pragma once

#include "device/context.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace warpalign::cuda {

/// Throws Error(out_of_memory) or Error(device_failure) unless `code` is cudaSuccess.
void check(cudaError_t code, const char* call, const CallSite& site);

/// Checks an allocation, and counts it if it succeeded. If memory is short, the message gives the
/// requested bytes and the free memory.
void check_allocation(cudaError_t code, const char* call, std::size_t bytes, const CallSite& site);

/// Advice on what to do about a failure; may be empty.
[[nodiscard]] std::string advice_for(cudaError_t code);

/// For example "no CUDA-capable device is detected (cudaErrorNoDevice)".
[[nodiscard]] std::string describe(cudaError_t code);

}  // namespace warpalign::cuda

// Failures of the CUDA runtime as warpalign::Error.
#pragma once

#include "device/context.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace warpalign::cuda {

/// Throws unless `code` is cudaSuccess: Error(out_of_memory) or Error(device_failure).
void check(cudaError_t code, const char* call, const CallSite& site);

/// The same for allocations, naming the bytes asked for and the memory there is.
void check_allocation(cudaError_t code, const char* call, std::size_t bytes, const CallSite& site);

/// What to do about a failure; may be empty.
[[nodiscard]] std::string advice_for(cudaError_t code);

/// "no CUDA-capable device is detected (cudaErrorNoDevice)".
[[nodiscard]] std::string describe(cudaError_t code);

}  // namespace warpalign::cuda

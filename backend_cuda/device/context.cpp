// Makes a device the calling thread's current one.
#include "device/context.hpp"

#include "device/errors.hpp"

#include <cuda_runtime_api.h>

namespace warpalign::cuda {

void Context::activate() const { check(cudaSetDevice(ordinal), "cudaSetDevice", CallSite{*this}); }

void Context::activate_quietly() const noexcept { static_cast<void>(cudaSetDevice(ordinal)); }

}  // namespace warpalign::cuda

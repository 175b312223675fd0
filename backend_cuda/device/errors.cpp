// Converts failures of the CUDA runtime to warpalign::Error.
#include "device/errors.hpp"

#include <warpalign/error.hpp>

namespace warpalign::cuda {
namespace {

ErrorContext context_of(cudaError_t code, const char* call, const CallSite& site) {
  ErrorContext context;
  context.stage = site.stage;
  context.backend = "cuda";
  context.device = site.context.name;
  context.call = call;
  context.code = cudaGetErrorName(code);
  context.advice = advice_for(code);
  return context;
}

/// Failures after which every call of the process on this device fails: CUDA's sticky errors, and
/// those of a lost device.
bool is_loss(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
      return true;
    default:
      return false;
  }
}

// Clears the thread's last error, which a failed call sets and the next launch would report again.
void forget_last_error() noexcept { static_cast<void>(cudaGetLastError()); }

std::string memory_left() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) {
    forget_last_error();
    return {};
  }
  return "; " + std::to_string(free_bytes) + " of " + std::to_string(total_bytes) +
         " bytes of device memory are free";
}

}  // namespace

std::string advice_for(cudaError_t code) {
  switch (code) {
    case cudaErrorMemoryAllocation:
      return "use smaller images, or free device memory that other programs hold";
    case cudaErrorInsufficientDriver:
    case cudaErrorUnsupportedPtxVersion:
      return "install the NVIDIA driver, or a newer one";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return "rebuild warpalign with this GPU's compute capability in WARPALIGN_CUDA_ARCHITECTURES";
    case cudaErrorDevicesUnavailable:
      return "the GPU is in use by another program in exclusive mode: wait, or choose another";
    default:
      if (!is_loss(code)) return {};
      return "restart the program, because this process can no longer use CUDA; "
             "compute-sanitizer shows the cause";
  }
}

std::string describe(cudaError_t code) {
  return std::string(cudaGetErrorString(code)) + " (" + cudaGetErrorName(code) + ")";
}

void check(cudaError_t code, const char* call, const CallSite& site) {
  if (code == cudaSuccess) return;
  forget_last_error();
  if (is_loss(code)) site.context.loss->note(cudaGetErrorName(code));
  const auto kind =
      code == cudaErrorMemoryAllocation ? ErrorKind::out_of_memory : ErrorKind::device_failure;
  throw Error(kind, std::string(call) + " failed: " + cudaGetErrorString(code),
              context_of(code, call, site));
}

void check_allocation(cudaError_t code, const char* call, std::size_t bytes, const CallSite& site) {
  if (code == cudaSuccess) return site.context.count_allocation();
  if (code != cudaErrorMemoryAllocation) return check(code, call, site);
  forget_last_error();
  throw Error(
      ErrorKind::out_of_memory,
      "cannot allocate " + std::to_string(bytes) + " bytes of device memory" + memory_left(),
      context_of(code, call, site));
}

}  // namespace warpalign::cuda

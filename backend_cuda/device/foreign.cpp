// Checks handles that the caller made, by asking CUDA about them.
#include "device/foreign.hpp"

#include "device/errors.hpp"

#include <warpalign/error.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <utility>

namespace warpalign::cuda {
namespace {

std::string device_name(int ordinal) { return "cuda:" + std::to_string(ordinal); }

void check_place(const Context& context, const void* address) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes",
        CallSite{context, "wrap"});
  switch (attributes.type) {
    case cudaMemoryTypeManaged:
      return;
    case cudaMemoryTypeDevice:
      if (attributes.device == context.ordinal) return;
      refuse_unowned(context, "the memory belongs to " + device_name(attributes.device) +
                                  ", the device is " + device_name(context.ordinal));
    case cudaMemoryTypeHost:
      refuse_unowned(context, "this is host memory", "copy it to the device");
    default:
      refuse_unowned(context, "the address does not belong to memory that CUDA knows");
  }
}

using AddressRange = CUresult (*)(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address);

/// The driver's cuMemGetAddressRange, to which this library is not linked; null if the driver has
/// none.
AddressRange address_range() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t code = cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &function,
                                                            12000, cudaEnableDefault, &found);
#else
  const cudaError_t code =
      cudaGetDriverEntryPoint("cuMemGetAddressRange", &function, cudaEnableDefault, &found);
#endif
  if (code != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return reinterpret_cast<AddressRange>(function);
}

/// Checks the size, if the driver knows the memory as one allocation; otherwise trusts the caller.
void check_range(const Context& context, std::uintptr_t address, std::size_t bytes) {
  static const AddressRange range_of = address_range();
  if (range_of == nullptr) return;
  CUdeviceptr base = 0;
  std::size_t size = 0;
  if (range_of(&base, &size, static_cast<CUdeviceptr>(address)) != CUDA_SUCCESS) return;
  const std::size_t left = static_cast<std::size_t>(base) + size - address;
  if (bytes <= left) return;
  refuse_unowned(context, "the memory has " + std::to_string(left) +
                              " bytes from this address on; " + std::to_string(bytes) +
                              " are needed");
}

}  // namespace

void refuse_unowned(const Context& context, const std::string& message, const std::string& advice) {
  ErrorContext where;
  where.stage = "wrap";
  where.backend = "cuda";
  where.device = context.name;
  where.advice = advice;
  throw Error(ErrorKind::invalid_argument, message, std::move(where));
}

void* checked_address(const Context& context, const backend::UnownedMemory& memory) {
  context.activate();
  auto* const address = static_cast<char*>(memory.handle) + memory.offset;
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (number % backend::unowned_alignment != 0) {
    refuse_unowned(context, "the memory does not begin at a multiple of " +
                                std::to_string(backend::unowned_alignment) + " bytes");
  }
  check_place(context, address);
  check_range(context, number, memory.bytes);
  return address;
}

void check_stream(const Context& context, cudaStream_t stream, cudaEvent_t event) {
  const cudaError_t code = cudaEventRecord(event, stream);
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  refuse_unowned(context, "the stream does not belong to " + device_name(context.ordinal) + ": " +
                              describe(code));
}

}  // namespace warpalign::cuda

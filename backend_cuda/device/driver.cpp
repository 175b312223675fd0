// An opened CUDA device.
#include "device/driver.hpp"

#include "device/errors.hpp"
#include "device/foreign.hpp"
#include "device/host_memory.hpp"
#include "device/memory.hpp"
#include "device/queue.hpp"
#include "device/readback.hpp"
#include "device/self_test.hpp"

#include <warpalign/error.hpp>

#include <cuda_runtime_api.h>

namespace warpalign::cuda {
namespace {

// Before a device is open, every failure means that no device is available.
void require(cudaError_t code, const char* call, const std::string& what,
             const std::string& device = {}) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  ErrorContext context;
  context.backend = "cuda";
  context.device = device;
  context.call = call;
  context.code = cudaGetErrorName(code);
  context.advice = advice_for(code);
  throw Error(ErrorKind::device_unavailable, what + ": " + describe(code), std::move(context));
}

int count_devices() {
  int count = 0;
  require(cudaGetDeviceCount(&count), "cudaGetDeviceCount", "cannot use a CUDA device");
  if (count > 0) return count;
  ErrorContext context;
  context.backend = "cuda";
  context.call = "cudaGetDeviceCount";
  throw Error(ErrorKind::device_unavailable, "there is no CUDA device", std::move(context));
}

cudaDeviceProp properties_of(int ordinal) {
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties",
          "cannot query CUDA device " + std::to_string(ordinal));
  return properties;
}

// 13000 -> "13.0"
std::string dotted(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string driver_version() {
  int driver = 0;
  int runtime = 0;
  require(cudaDriverGetVersion(&driver), "cudaDriverGetVersion",
          "cannot determine the version of the CUDA driver");
  require(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion",
          "cannot determine the version of the CUDA runtime");
  return "CUDA " + dotted(driver) + " (runtime " + dotted(runtime) + ")";
}

DeviceInfo describe_device(int ordinal) {
  const cudaDeviceProp properties = properties_of(ordinal);
  DeviceInfo info;
  info.id = "cuda:" + std::to_string(ordinal);
  info.backend = "cuda";
  info.name = properties.name;
  info.platform = "NVIDIA CUDA";
  info.driver = driver_version();
  info.kind = DeviceKind::gpu;
  info.memory_bytes = properties.totalGlobalMem;
  info.max_allocation_bytes = properties.totalGlobalMem;
  info.double_precision = true;
  info.fft = "cufft";
  return info;
}

Context context_for(int ordinal) {
  const cudaDeviceProp properties = properties_of(ordinal);
  Context context;
  context.ordinal = ordinal;
  context.name = properties.name;
  context.multiprocessors = properties.multiProcessorCount;
  context.dependent_launch = properties.major >= 9;
  context.texture_alignment = properties.textureAlignment;
  context.texture_pitch_alignment = properties.texturePitchAlignment;
  for (std::size_t i = 0; i < 3; ++i) {
    context.linear_texture_limit[i] = static_cast<std::size_t>(properties.maxTexture2DLinear[i]);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    context.volume_texture_limit[i] = static_cast<std::size_t>(properties.maxTexture3D[i]);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    context.array_texture_limit[i] = static_cast<std::size_t>(properties.maxTexture2D[i]);
  }
  return context;
}

int ordinal_of(std::size_t index) {
  const int count = count_devices();
  if (index < static_cast<std::size_t>(count)) return static_cast<int>(index);
  ErrorContext context;
  context.backend = "cuda";
  throw Error(ErrorKind::device_unavailable,
              "there is no device cuda:" + std::to_string(index) + "; this machine has " +
                  std::to_string(count) + " CUDA device" + (count == 1 ? "" : "s"),
              std::move(context));
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices;
  const int count = count_devices();
  for (int ordinal = 0; ordinal < count; ++ordinal) devices.push_back(describe_device(ordinal));
  return devices;
}

CudaDriver::CudaDriver(std::size_t index) {
  const int ordinal = ordinal_of(index);
  info_ = describe_device(ordinal);
  context_ = context_for(ordinal);
  require(cudaSetDevice(ordinal), "cudaSetDevice", "cannot open the device", info_.name);
  // If a kernel has failed before in this process, choosing the device may still succeed.
  require(cudaFree(nullptr), "cudaFree", "cannot open the device", info_.name);
  context_.pool = std::make_unique<MemoryPool>(ordinal);
  context_.service = std::make_unique<ServiceStream>(ordinal);
  context_.events = std::make_unique<EventPool>(ordinal);
  require_kernels(context_);
  choose_sampling();
}

void CudaDriver::choose_sampling() {
  info_.sampling_reason = texture_fault(*this);
  context_.texture_filtering = info_.sampling_reason.empty();
  info_.sampling = context_.texture_filtering ? Sampling::texture : Sampling::buffer;
}

std::unique_ptr<backend::Memory> CudaDriver::allocate(std::size_t bytes) {
  return std::make_unique<DeviceMemory>(CallSite{context_}, bytes);
}

std::unique_ptr<backend::Memory> CudaDriver::allocate_image(PixelType type, const Shape& shape) {
  const CallSite site{context_};
  const std::size_t bytes = static_cast<std::size_t>(shape.pixels()) * size_of(type);
  auto memory = std::make_unique<DeviceMemory>(site, bytes);
  if (context_.texture_filtering) memory->make_textures(type, shape, site);
  return memory;
}

std::unique_ptr<backend::HostMemory> CudaDriver::allocate_host(std::size_t bytes) {
  return std::make_unique<PinnedMemory>(CallSite{context_}, bytes);
}

// Every queue of this backend can be timed, because a mark creates an event.
std::unique_ptr<backend::Queue> CudaDriver::make_queue(bool /*timed*/,
                                                       backend::QueuePriority priority) {
  return std::make_unique<StreamQueue>(context_, priority);
}

std::unique_ptr<backend::Readback> CudaDriver::make_readback(std::size_t bytes) {
  return std::make_unique<PinnedReadback>(context_, bytes);
}

std::unique_ptr<backend::Event> CudaDriver::make_event() {
  return std::make_unique<StreamEvent>(context_);
}

std::unique_ptr<backend::Memory> CudaDriver::wrap_memory(const backend::UnownedMemory& memory) {
  return std::make_unique<DeviceMemory>(context_, checked_address(context_, memory),
                                        std::make_shared<const WrappedTextures::Textures>());
}

std::unique_ptr<backend::Memory> CudaDriver::wrap_image(const backend::UnownedMemory& memory,
                                                        PixelType type, const Shape& shape) {
  if (!context_.texture_filtering) return wrap_memory(memory);
  void* const address = checked_address(context_, memory);
  return std::make_unique<DeviceMemory>(context_, address,
                                        wrapped_textures_.over(address, type, shape));
}

backend::WrappedQueue CudaDriver::wrap_queue(backend::NativeHandle queue) {
  return {std::make_unique<StreamQueue>(context_, static_cast<cudaStream_t>(queue)), true};
}

std::unique_ptr<backend::Event> CudaDriver::wrap_event(backend::NativeHandle event) {
  return std::make_unique<StreamEvent>(context_, static_cast<cudaEvent_t>(event));
}

}  // namespace warpalign::cuda

// Interoperation with CUDA: warpalign on the program's own device memory and streams.
//
//   const auto device = warpalign::cuda::open_device(0);
//   auto stream = warpalign::cuda::wrap_stream(device, cuda_stream);
//   auto image = warpalign::cuda::wrap_image(device, pointer, warpalign::PixelType::f32, {640,
//   480});
//
// warpalign uses the device's primary context, as the CUDA runtime does, and makes its device
// current on the calling thread. The functions throw Error as those of warpalign/interop.hpp do.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/open_device.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <utility>

namespace warpalign::cuda {

/// Opens the device with this CUDA device ordinal.
[[nodiscard]] inline Device open_device(int ordinal) {
  return warpalign::open_device("cuda:" + std::to_string(ordinal));
}

/// Wraps device or managed memory of this device, aligned to 16 bytes. `owner`: see
/// interop::UnownedMemory.
[[nodiscard]] inline Buffer wrap_buffer(const Device& device, void* pointer, std::size_t bytes,
                                        std::shared_ptr<void> owner = {}) {
  return interop::wrap_buffer(device, "cuda", {pointer, 0, false, std::move(owner)}, bytes);
}
/// Wraps dense, row-major pixels in such memory. Plans that sample this image through textures
/// (Precision::texture, without a prefilter) throw Error(invalid_argument) unless the address is a
/// multiple of cudaDevAttrTextureAlignment (usually 512 bytes). All other plans accept any address.
[[nodiscard]] inline Image wrap_image(const Device& device, void* pointer, PixelType type,
                                      const Shape& shape, std::shared_ptr<void> owner = {}) {
  return interop::wrap_image(device, "cuda", {pointer, 0, false, std::move(owner)}, type, shape);
}
/// The same for read-only pixels: plans refuse them as an output.
[[nodiscard]] inline Image wrap_image(const Device& device, const void* pointer, PixelType type,
                                      const Shape& shape, std::shared_ptr<void> owner = {}) {
  return interop::wrap_image(device, "cuda",
                             {const_cast<void*>(pointer), 0, true, std::move(owner)}, type, shape);
}
/// Wraps a stream. Null and cudaStreamLegacy are the default stream; cudaStreamPerThread is the
/// default stream of the calling thread.
[[nodiscard]] inline Stream wrap_stream(const Device& device, cudaStream_t stream,
                                        std::shared_ptr<void> owner = {}) {
  return interop::wrap_stream(device, "cuda", stream, std::move(owner));
}
/// Wraps an event that the program recorded. It must outlive the returned object.
[[nodiscard]] inline Event wrap_event(const Device& device, cudaEvent_t event) {
  return interop::wrap_event(device, "cuda", event);
}

// Handles of warpalign's objects. The objects keep their ownership.

/// The device address of the first byte of a buffer, or of the first pixel of an image.
[[nodiscard]] inline void* device_pointer(const Buffer& buffer) {
  return interop::handle_of(buffer, "cuda");
}
[[nodiscard]] inline void* device_pointer(const Image& image) {
  return device_pointer(image.buffer());
}
/// The CUDA stream of a Stream.
[[nodiscard]] inline cudaStream_t stream_of(const Stream& stream) {
  return static_cast<cudaStream_t>(interop::handle_of(stream, "cuda"));
}
/// The CUDA event of an Event.
[[nodiscard]] inline cudaEvent_t event_of(const Event& event) {
  return static_cast<cudaEvent_t>(interop::handle_of(event, "cuda"));
}

}  // namespace warpalign::cuda

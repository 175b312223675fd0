// CUDA programs: warpalign on the program's own device memory and streams.
//
//   const auto device = warpalign::cuda::open_device(0);
//   auto stream = warpalign::cuda::wrap_stream(device, cuda_stream);
//   auto image = warpalign::cuda::wrap_image(device, pointer, warpalign::PixelType::f32, {640,
//   480});
//
// warpalign uses the device's primary context, as the CUDA runtime does, and makes its device the
// calling thread's current one. All functions throw Error as those of warpalign/interop.hpp do.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/open_device.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <utility>

namespace warpalign::cuda {

/// Opens the device with CUDA's own number.
[[nodiscard]] inline Device open_device(int ordinal) {
  return warpalign::open_device("cuda:" + std::to_string(ordinal));
}

/// Device or managed memory of this device, at a multiple of 16 bytes. `owner`: see
/// interop::ForeignMemory.
[[nodiscard]] inline Buffer wrap_buffer(const Device& device, void* pointer, std::size_t bytes,
                                        std::shared_ptr<void> owner = {}) {
  return interop::wrap_buffer(device, "cuda", {pointer, 0, false, std::move(owner)}, bytes);
}
/// Dense, row-major pixels in such memory. Where the address is no multiple of what the device asks
/// of textures (512 bytes as a rule; cudaDevAttrTextureAlignment), a plan that samples this image
/// by texture lookups refuses it (Precision::texture, without a prefilter); all other plans take
/// it.
[[nodiscard]] inline Image wrap_image(const Device& device, void* pointer, PixelType type,
                                      const Shape& shape, std::shared_ptr<void> owner = {}) {
  return interop::wrap_image(device, "cuda", {pointer, 0, false, std::move(owner)}, type, shape);
}
/// Read-only: plans refuse it as an output.
[[nodiscard]] inline Image wrap_image(const Device& device, const void* pointer, PixelType type,
                                      const Shape& shape, std::shared_ptr<void> owner = {}) {
  return interop::wrap_image(device, "cuda",
                             {const_cast<void*>(pointer), 0, true, std::move(owner)}, type, shape);
}
/// Null and cudaStreamLegacy are the default stream, cudaStreamPerThread the thread's own.
[[nodiscard]] inline Stream wrap_stream(const Device& device, cudaStream_t stream,
                                        std::shared_ptr<void> owner = {}) {
  return interop::wrap_stream(device, "cuda", stream, std::move(owner));
}
/// An event that the program recorded. It must outlive the object.
[[nodiscard]] inline Event wrap_event(const Device& device, cudaEvent_t event) {
  return interop::wrap_event(device, "cuda", event);
}

// Handles of warpalign's objects, which stay their owners.

/// The address on the device of the buffer's first byte, or of the image's first pixel.
[[nodiscard]] inline void* device_pointer(const Buffer& buffer) {
  return interop::handle_of(buffer, "cuda");
}
[[nodiscard]] inline void* device_pointer(const Image& image) {
  return device_pointer(image.buffer());
}
/// The CUDA stream that the work goes to.
[[nodiscard]] inline cudaStream_t stream_of(const Stream& stream) {
  return static_cast<cudaStream_t>(interop::handle_of(stream, "cuda"));
}
/// The CUDA event that is recorded.
[[nodiscard]] inline cudaEvent_t event_of(const Event& event) {
  return static_cast<cudaEvent_t>(interop::handle_of(event, "cuda"));
}

}  // namespace warpalign::cuda

// Interoperation, without copies, with programs that call CUDA or OpenCL themselves: warpalign can
// use their memory, queues and events. This header is independent of the vendors' types. Programs
// include interop/cuda.hpp or interop/opencl.hpp, which call these functions.
//
// A wrapped handle becomes an ordinary Buffer, Image, Stream or Event, which every plan accepts.
// The wrap functions throw Error(invalid_argument) for a bad handle, as far as the vendor's API
// detects it: memory that belongs to another device or context, or is too small, misaligned or not
// writable; a queue that belongs to another device or is out of order. Wrapping may allocate
// memory; executing a plan with wrapped objects does not. If a call of the vendor's API fails, the
// functions throw Error(device_failure).
#pragma once

#include <warpalign/config.hpp>
#include <warpalign/device.hpp>
#include <warpalign/export.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace warpalign {

/// A point in a stream's work that other streams, the caller's own queues or the host can wait for.
/// An event that was never recorded counts as reached. Move-only.
class WARPALIGN_API Event {
 public:
  /// Creates an event that is not recorded.
  explicit Event(const Device& device);
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;
  ~Event();

  /// The device on whose streams the event can be recorded.
  [[nodiscard]] const Device& device() const noexcept { return device_; }

  /// Records the event: it is reached when all work enqueued on the stream so far is done. An event
  /// can be recorded again.
  void record(Stream& stream);
  /// Makes work that is enqueued on the stream from now on wait for the event. Returns at once.
  void wait(Stream& stream) const;
  /// Blocks the calling thread until the event is reached.
  void finish() const;
  /// Whether the event is reached. Returns at once.
  [[nodiscard]] bool done() const;

 private:
  friend struct detail::Access;
  Event(Device device, std::unique_ptr<backend::Event> event);
  Device device_;
  std::unique_ptr<backend::Event> event_;
};

namespace interop {

/// Unowned memory: it belongs to the caller, and warpalign never frees it.
struct UnownedMemory {
  void* handle = nullptr;        ///< a CUDA device pointer, or a cl_mem
  std::size_t offset_bytes = 0;  ///< offset of the first pixel, in bytes
  bool read_only = false;        ///< whether plans refuse it as an output
  /// Keeps the memory alive. The destructor of the wrapping object waits for all work of the
  /// device, then releases the owner. Without an owner the destructor does not wait, and the caller
  /// must keep the memory until the work is done.
  std::shared_ptr<void> owner{};
};

// `backend` is the backend that the handle is for: "cuda" or "opencl". These functions throw
// Error(invalid_argument) for a device of another backend, so a handle is never misinterpreted.

/// Wraps memory. It must begin at a multiple of 16 bytes, because kernels load 16 bytes at once.
[[nodiscard]] WARPALIGN_API Buffer wrap_buffer(const Device& device, const std::string& backend,
                                               const UnownedMemory& memory, std::size_t bytes);
/// Wraps memory that contains dense row-major pixels, with the same requirements.
[[nodiscard]] WARPALIGN_API Image wrap_image(const Device& device, const std::string& backend,
                                             const UnownedMemory& memory, PixelType type,
                                             const Shape& shape);
/// Wraps a queue. The stream enqueues its work there, in order with the caller's own work. The
/// destructor of the stream does not wait for the work. The queue must outlive the stream; `owner`
/// may keep it alive, and is released with the stream.
[[nodiscard]] WARPALIGN_API Stream wrap_stream(const Device& device, const std::string& backend,
                                               void* queue, std::shared_ptr<void> owner = {});
/// Wraps an event that the caller recorded. It must outlive the returned object.
[[nodiscard]] WARPALIGN_API Event wrap_event(const Device& device, const std::string& backend,
                                             void* event);

/// The vendor's handle of an object. The object keeps its ownership.
[[nodiscard]] WARPALIGN_API void* handle_of(const Buffer& buffer, const std::string& backend);
[[nodiscard]] WARPALIGN_API void* handle_of(const Stream& stream, const std::string& backend);
/// Null for an OpenCL event that is not recorded yet.
[[nodiscard]] WARPALIGN_API void* handle_of(const Event& event, const std::string& backend);
/// The vendor's handle of the device's context; null if the backend has none.
[[nodiscard]] WARPALIGN_API void* context_of(const Device& device, const std::string& backend);
/// The vendor's handle of the device; null if the backend has none.
[[nodiscard]] WARPALIGN_API void* device_handle_of(const Device& device,
                                                   const std::string& backend);

/// Opens a device in a context that the caller created, so that both can use the same memory.
[[nodiscard]] WARPALIGN_API Device open_in_context(const std::string& backend, void* context,
                                                   void* device, const Config& config);

}  // namespace interop

}  // namespace warpalign

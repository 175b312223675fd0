// Working together with code that uses the vendor's API itself: its memory, its queues, its events,
// without copies. This header knows no vendor's types. Programs include interop/cuda.hpp or
// interop/opencl.hpp, which call what stands here.
//
// What is wrapped becomes an ordinary Buffer, Image, Stream or Event, which every plan takes. Bad
// handles that the vendor's API can tell are refused with Error(invalid_argument) when they are
// wrapped: memory of another device or context, too small, misaligned or not writable, queues of
// another device or out of order. Wrapping may allocate; executing a plan with what was wrapped
// does not. A failing call of the vendor's API is Error(device_failure).
#pragma once

#include <warpalign/config.hpp>
#include <warpalign/device.hpp>
#include <warpalign/export.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace warpalign {

/// A point in a stream's work that other streams, the caller's own queues or the host can wait for.
/// One that was never recorded counts as reached. Move-only.
class WARPALIGN_API Event {
 public:
  /// An event that was never recorded.
  explicit Event(const Device& device);
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;
  ~Event();

  /// The device on whose streams the event can be recorded.
  [[nodiscard]] const Device& device() const noexcept { return device_; }

  /// Makes the event stand for the work enqueued on the stream so far. May be called again.
  void record(Stream& stream);
  /// Work that is enqueued on the stream from now on begins after the event. The host does not
  /// wait.
  void wait(Stream& stream) const;
  /// Waits, on the host, until the event is reached.
  void finish() const;
  /// Whether the event is reached. Does not wait.
  [[nodiscard]] bool done() const;

 private:
  friend struct detail::Access;
  Event(Device device, std::unique_ptr<backend::Event> event);
  Device device_;
  std::unique_ptr<backend::Event> event_;
};

namespace interop {

/// Memory that the caller owns.
struct ForeignMemory {
  void* handle = nullptr;        ///< a CUDA device pointer, or a cl_mem
  std::size_t offset_bytes = 0;  ///< where the pixels begin in it
  bool read_only = false;        ///< whether plans refuse it as an output
  /// What keeps the memory alive, let go of when the object over it is destroyed. That destructor
  /// then first waits for all work that the device was given, since nothing else would keep the
  /// memory until then. Without an owner it does not wait, and the caller keeps the memory until
  /// the work is done.
  std::shared_ptr<void> owner{};
};

// Each of these names the backend that the handle is for ("cuda", "opencl"), and refuses a device
// of another one, so that a handle is never taken for what it is not.

/// Memory must begin at a multiple of 16 bytes: kernels load that many at once.
[[nodiscard]] WARPALIGN_API Buffer wrap_buffer(const Device& device, const std::string& backend,
                                               const ForeignMemory& memory, std::size_t bytes);
/// As above, for dense row-major pixels.
[[nodiscard]] WARPALIGN_API Image wrap_image(const Device& device, const std::string& backend,
                                             const ForeignMemory& memory, PixelType type,
                                             const Shape& shape);
/// Work goes to the caller's queue, in order with what the caller enqueues there. The stream's
/// destructor does not wait for it. `owner` is kept as long as the stream. The queue must outlive
/// the stream.
[[nodiscard]] WARPALIGN_API Stream wrap_stream(const Device& device, const std::string& backend,
                                               void* queue, std::shared_ptr<void> owner = {});
/// An event that the caller recorded. It must outlive the object.
[[nodiscard]] WARPALIGN_API Event wrap_event(const Device& device, const std::string& backend,
                                             void* event);

/// The vendor's handle behind an object, which stays its owner.
[[nodiscard]] WARPALIGN_API void* handle_of(const Buffer& buffer, const std::string& backend);
[[nodiscard]] WARPALIGN_API void* handle_of(const Stream& stream, const std::string& backend);
/// Null for an event that OpenCL has not recorded yet.
[[nodiscard]] WARPALIGN_API void* handle_of(const Event& event, const std::string& backend);
/// The device's context as the vendor's API names it. Null where it has none.
[[nodiscard]] WARPALIGN_API void* context_of(const Device& device, const std::string& backend);
/// The device as the vendor's API names it. Null where it has no such handle.
[[nodiscard]] WARPALIGN_API void* device_handle_of(const Device& device,
                                                   const std::string& backend);

/// Opens a device within a context that the caller made, so that both can use the same memory.
[[nodiscard]] WARPALIGN_API Device open_within(const std::string& backend, void* context,
                                               void* device, const Config& config);

}  // namespace interop

}  // namespace warpalign

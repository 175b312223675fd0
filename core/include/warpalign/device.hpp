// Devices, their memory, and the streams that work is enqueued on.
//
// A Device is a cheap handle: copies share one opened device, which is closed when the last
// handle, buffer, stream and plan made from it is destroyed. There is no global current device;
// devices of several backends can be used side by side. A buffer belongs to the device that made
// it, and passing it to another device's plan throws an Error.
//
// Threads: a Device may be used by any number of threads at once; every other object, including
// plans and streams, by one thread at a time. Copies of a plan share its kernels and its memory,
// and count as one object: each thread makes its own plans.
//
// Errors: what is wrong with the arguments (an object of another device, too few bytes, a range
// beyond the end) is Error(invalid_argument), thrown before anything is enqueued. A failing call of
// the device's runtime is Error(device_failure). Work that fails after it was enqueued is reported
// by the next call that waits.
#pragma once

#include <warpalign/export.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace warpalign {

namespace backend {
class HostMemory;
class Memory;
class Queue;
class Mark;
class Event;
class Driver;
}  // namespace backend

namespace detail {
struct DeviceState;
struct Access;
}  // namespace detail

/// What a device is: a processor, a graphics processor, or something else, such as an accelerator.
enum class DeviceKind {
  cpu,   ///< the machine's processor
  gpu,   ///< a graphics processor
  other  ///< an OpenCL accelerator or custom device
};

/// How linear interpolation of images is done on a device.
enum class Sampling {
  texture,  ///< the hardware's texture unit (8 fractional bits on most GPUs)
  buffer    ///< loads from memory and single-precision arithmetic
};

/// "cpu", "gpu" or "other". Throws no Error.
[[nodiscard]] WARPALIGN_API const char* name_of(DeviceKind kind) noexcept;
/// "texture" or "buffer". Throws no Error.
[[nodiscard]] WARPALIGN_API const char* name_of(Sampling sampling) noexcept;

/// Properties of a device.
struct DeviceInfo {
  std::string id;                        ///< "cuda:0", "opencl:1": a name that open_device accepts
  std::string backend;                   ///< "cuda" or "opencl"
  std::string name;                      ///< the device's own name
  std::string platform;                  ///< the OpenCL platform's name, or "NVIDIA CUDA"
  std::string driver;                    ///< the driver's version
  DeviceKind kind = DeviceKind::other;   ///< whether it is a processor or a graphics processor
  std::size_t memory_bytes = 0;          ///< global memory
  std::size_t max_allocation_bytes = 0;  ///< the largest single allocation
  Sampling sampling = Sampling::buffer;  ///< valid once the device is open
  std::string sampling_reason;           ///< why `sampling` is not `texture`, if it is not
  std::string fft;                       ///< the FFT asked first: "cufft", "vkfft", "clfft", "simd"
};

class Buffer;
class HostBuffer;
class Image;
class Stream;

/// An opened device, as returned by open_device().
class WARPALIGN_API Device {
 public:
  /// The device's properties, `sampling` included.
  [[nodiscard]] const DeviceInfo& info() const noexcept;

  /// Allocates uninitialised device memory. Throws Error(out_of_memory) when there is not enough,
  /// Error(invalid_argument) for zero bytes.
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const;
  /// Allocates uninitialised host memory of the kind that copies to and from this device are
  /// fastest with: pinned memory, where the device has memory of its own. Throws
  /// Error(out_of_memory) when there is not enough, Error(invalid_argument) for zero bytes.
  [[nodiscard]] HostBuffer make_host_buffer(std::size_t bytes) const;
  /// Allocates uninitialised, dense, row-major pixels in device memory. Every extent must be at
  /// least 1.
  [[nodiscard]] Image make_image(PixelType type, const Shape& shape) const;
  /// Makes a new in-order stream. Only a `timed` stream can take marks.
  [[nodiscard]] Stream make_stream(bool timed = false) const;

  /// Whether both handles refer to the same opened device.
  [[nodiscard]] bool same_as(const Device& other) const noexcept { return state_ == other.state_; }

 private:
  friend struct detail::Access;
  explicit Device(std::shared_ptr<detail::DeviceState> state);
  std::shared_ptr<detail::DeviceState> state_;
};

/// Device memory, freed with the object; or memory of the caller's (interop.hpp), which is only let
/// go of. Move-only.
class WARPALIGN_API Buffer {
 public:
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();

  /// The size in bytes.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  /// The device that the memory belongs to.
  [[nodiscard]] const Device& device() const noexcept { return device_; }

 private:
  friend struct detail::Access;
  Buffer(Device device, std::unique_ptr<backend::Memory> memory, std::size_t bytes);
  void release() noexcept;
  Device device_;
  std::unique_ptr<backend::Memory> memory_;
  std::size_t bytes_ = 0;
  bool foreign_ = false;  ///< the caller's
  bool read_only_ = false;
  std::shared_ptr<void> owner_;  ///< of memory that the caller owns
};

/// Host memory that a device's runtime has allocated, freed with the object. Move-only.
class WARPALIGN_API HostBuffer {
 public:
  HostBuffer(HostBuffer&&) noexcept;
  HostBuffer& operator=(HostBuffer&&) noexcept;
  ~HostBuffer();

  /// The size in bytes.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  /// The first byte, aligned for any type of pixels.
  [[nodiscard]] void* data() const noexcept { return data_; }
  /// The device whose runtime the memory belongs to.
  [[nodiscard]] const Device& device() const noexcept { return device_; }

 private:
  friend struct detail::Access;
  HostBuffer(Device device, std::unique_ptr<backend::HostMemory> memory, std::size_t bytes);
  Device device_;
  std::unique_ptr<backend::HostMemory> memory_;
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
};

/// Dense row-major pixels in device memory. Move-only.
class WARPALIGN_API Image {
 public:
  /// The type of the pixels.
  [[nodiscard]] PixelType type() const noexcept { return type_; }
  /// The extents in pixels.
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  /// The size of all pixels in bytes.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return buffer_.size_bytes(); }
  /// The device that the pixels are on.
  [[nodiscard]] const Device& device() const noexcept { return buffer_.device(); }
  /// The memory that holds the pixels.
  [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }
  [[nodiscard]] Buffer& buffer() noexcept { return buffer_; }

 private:
  friend struct detail::Access;
  Image(Buffer buffer, PixelType type, const Shape& shape);
  Buffer buffer_;
  PixelType type_;
  Shape shape_;
};

/// A point in time on a timed stream, for measurements of device time.
class WARPALIGN_API Mark {
 public:
  Mark(Mark&&) noexcept;
  Mark& operator=(Mark&&) noexcept;
  ~Mark();

 private:
  friend struct detail::Access;
  friend class Stream;
  Mark(Device device, std::unique_ptr<backend::Mark> mark);
  Device device_;
  std::unique_ptr<backend::Mark> mark_;
};

/// An in-order queue of work on a device. Everything is asynchronous unless stated otherwise.
/// Move-only; its destructor waits for the enqueued work, unless the queue is the caller's
/// (interop.hpp).
class WARPALIGN_API Stream {
 public:
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  /// The device that the work runs on.
  [[nodiscard]] const Device& device() const noexcept { return device_; }
  /// Whether the stream can take marks.
  [[nodiscard]] bool timed() const noexcept { return timed_; }

  /// Copies `bytes` from the host to the start of `target`. The host memory may be reused on
  /// return.
  void upload(const void* source, std::size_t bytes, Buffer& target);
  /// Copies a host image (of the same type and size, with any row pitch) to `target`. The host
  /// memory may be reused on return.
  void upload(const HostImage& source, Image& target);
  /// Copies the first `bytes` of `source` to the host and waits for them.
  void download(const Buffer& source, void* target, std::size_t bytes);
  /// Copies all pixels densely to the host and waits for them. `bytes` must be the image's size.
  void download(const Image& source, void* target, std::size_t bytes);
  /// Copies one buffer to another of the same size on this device.
  void copy(const Buffer& source, Buffer& target);
  /// Waits until all enqueued work is done, and reports failures of that work.
  void finish();

  /// Marks this point of the stream, which must be a timed one.
  [[nodiscard]] Mark mark();
  /// The device time between two marks of this stream in milliseconds. Waits for the later mark.
  [[nodiscard]] double milliseconds_between(const Mark& from, const Mark& to);

 private:
  friend struct detail::Access;
  Stream(Device device, std::unique_ptr<backend::Queue> queue, bool timed);
  void release() noexcept;
  Device device_;
  std::unique_ptr<backend::Queue> queue_;
  bool timed_ = false;
  std::unique_ptr<backend::Event> end_;  ///< for the end of the work on a queue of the caller's
  std::shared_ptr<void> owner_;          ///< of such a queue
};

}  // namespace warpalign

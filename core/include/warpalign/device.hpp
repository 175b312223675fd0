// Devices, device memory, and the streams that execute work.
//
// A Device is a cheap handle. Copies share one opened device, which closes when the last handle,
// buffer, stream and plan made from it is destroyed. There is no global current device, and a
// program may use devices of several backends at the same time. A buffer belongs to the device that
// made it: passing it to a plan of another device throws an Error.
//
// Threads: any number of threads may use a Device at once. Only one thread at a time may use any
// other object, including plans and streams. Copies of a plan share its kernels and memory and
// count as one object, so each thread should make its own plans.
//
// Errors: wrong arguments (an object of another device, too few bytes, a range beyond the end)
// throw Error(invalid_argument) before anything is enqueued. If a call of the device's runtime
// fails, the function throws Error(device_failure). If enqueued work fails later, the next call
// that waits reports it.
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

/// The kind of a device.
enum class DeviceKind {
  cpu,   ///< the processor of the machine
  gpu,   ///< a graphics processor
  other  ///< an OpenCL accelerator or custom device
};

/// How a device interpolates images linearly.
enum class Sampling {
  texture,  ///< the hardware's texture unit (8 fractional bits on most GPUs)
  buffer    ///< loads from memory and single-precision arithmetic
};

/// The name of a kind: "cpu", "gpu" or "other".
[[nodiscard]] WARPALIGN_API const char* name_of(DeviceKind kind) noexcept;
/// The name of a method: "texture" or "buffer".
[[nodiscard]] WARPALIGN_API const char* name_of(Sampling sampling) noexcept;

/// Properties of a device.
struct DeviceInfo {
  std::string id;                        ///< "cuda:0", "opencl:1": a name that open_device accepts
  std::string backend;                   ///< "cuda" or "opencl"
  std::string name;                      ///< the device's own name
  std::string platform;                  ///< the OpenCL platform's name, or "NVIDIA CUDA"
  std::string driver;                    ///< the driver's version
  DeviceKind kind = DeviceKind::other;   ///< processor, graphics processor or other
  std::size_t memory_bytes = 0;          ///< size of the global memory, in bytes
  std::size_t max_allocation_bytes = 0;  ///< the largest single allocation, in bytes
  bool double_precision = false;         ///< whether kernels can compute in double precision
  Sampling sampling = Sampling::buffer;  ///< known only after the device was opened
  std::string sampling_reason;           ///< why `sampling` is not `texture`, if it is not
  std::string fft;                       ///< preferred FFT: "cufft", "vkfft", "clfft" or "simd"
};

class Buffer;
class HostBuffer;
class Image;
class Stream;

/// An opened device, as returned by open_device().
class WARPALIGN_API Device {
 public:
  /// The device's properties, including `sampling`.
  [[nodiscard]] const DeviceInfo& info() const noexcept;

  /// Allocates uninitialised device memory. Throws Error(out_of_memory) if there is not enough, and
  /// Error(invalid_argument) for zero bytes.
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const;
  /// Allocates uninitialised host memory of the kind that gives the fastest copies to and from this
  /// device: pinned memory, if the device has its own memory. Throws Error(out_of_memory) if there
  /// is not enough, and Error(invalid_argument) for zero bytes.
  [[nodiscard]] HostBuffer make_host_buffer(std::size_t bytes) const;
  /// Allocates uninitialised, dense, row-major pixels in device memory. Throws Error(out_of_memory)
  /// if there is not enough, and Error(invalid_argument) if an extent is below 1.
  [[nodiscard]] Image make_image(PixelType type, const Shape& shape) const;
  /// Creates an in-order stream. Only a `timed` stream supports Stream::mark().
  [[nodiscard]] Stream make_stream(bool timed = false) const;

  /// Whether both handles refer to the same opened device.
  [[nodiscard]] bool same_as(const Device& other) const noexcept { return state_ == other.state_; }

 private:
  friend struct detail::Access;
  explicit Device(std::shared_ptr<detail::DeviceState> state);
  std::shared_ptr<detail::DeviceState> state_;
};

/// Device memory. The destructor frees it, unless it is unowned memory of the caller (interop.hpp).
/// Move-only.
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
  bool unowned_ = false;  ///< the memory belongs to the caller
  bool read_only_ = false;
  std::shared_ptr<void> owner_;  ///< keeps memory of the caller alive
};

/// Host memory that a device's runtime allocated. The destructor frees it. Move-only.
class WARPALIGN_API HostBuffer {
 public:
  HostBuffer(HostBuffer&&) noexcept;
  HostBuffer& operator=(HostBuffer&&) noexcept;
  ~HostBuffer();

  /// The size in bytes.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  /// The first byte, aligned for any pixel type.
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
  /// The pixel type.
  [[nodiscard]] PixelType type() const noexcept { return type_; }
  /// The extents in pixels.
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  /// The size of all pixels in bytes.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return buffer_.size_bytes(); }
  /// The device that the image belongs to.
  [[nodiscard]] const Device& device() const noexcept { return buffer_.device(); }
  /// The memory that contains the pixels.
  [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }
  [[nodiscard]] Buffer& buffer() noexcept { return buffer_; }

 private:
  friend struct detail::Access;
  Image(Buffer buffer, PixelType type, const Shape& shape);
  Buffer buffer_;
  PixelType type_;
  Shape shape_;
};

/// A time stamp on a timed stream, for measurements of device time.
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

/// An in-order queue of work on a device. All functions are asynchronous unless stated otherwise.
/// The destructor waits for the enqueued work, unless the queue belongs to the caller
/// (interop.hpp). Move-only.
class WARPALIGN_API Stream {
 public:
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  /// The device that executes the work.
  [[nodiscard]] const Device& device() const noexcept { return device_; }
  /// Whether the stream supports mark().
  [[nodiscard]] bool timed() const noexcept { return timed_; }

  /// Copies `bytes` bytes from the host to the start of `target`. The caller may reuse the host
  /// memory as soon as the call returns.
  void upload(const void* source, std::size_t bytes, Buffer& target);
  /// Copies a host image of the same type and size, with any row pitch, to `target`. The caller may
  /// reuse the host memory as soon as the call returns.
  void upload(const HostImage& source, Image& target);
  /// Copies the first `bytes` bytes of `source` to the host and waits for the copy.
  void download(const Buffer& source, void* target, std::size_t bytes);
  /// Copies all pixels to dense rows on the host and waits for the copy. `bytes` must be
  /// `source.size_bytes()`.
  void download(const Image& source, void* target, std::size_t bytes);
  /// Copies one buffer to another of the same size on this device.
  void copy(const Buffer& source, Buffer& target);
  /// Waits until all enqueued work is done. Throws Error(device_failure) if some of it failed.
  void finish();

  /// Records a time stamp at this point of the stream. Throws Error(invalid_argument) unless the
  /// stream is timed.
  [[nodiscard]] Mark mark();
  /// The device time between two marks of this stream, in milliseconds. Waits for the later mark.
  [[nodiscard]] double milliseconds_between(const Mark& from, const Mark& to);

 private:
  friend struct detail::Access;
  Stream(Device device, std::unique_ptr<backend::Queue> queue, bool timed);
  void release() noexcept;
  Device device_;
  std::unique_ptr<backend::Queue> queue_;
  bool timed_ = false;
  std::unique_ptr<backend::Event> end_;  ///< the end of the work on a queue of the caller
  std::shared_ptr<void> owner_;          ///< keeps a queue of the caller alive
};

}  // namespace warpalign

// Devices, their memory, and the streams that work is enqueued on.
//
// A Device is a cheap handle: copies share one opened device, which is closed when the last
// handle, buffer, stream and plan made from it is gone. There is no global current device;
// devices of several backends live side by side. A buffer belongs to the device that made it,
// and giving it to another device's plan is refused with an Error.
//
// Threads: a Device may be used by any number of threads at once; every other object, plans and
// streams among them, by one thread at a time.
#pragma once

#include <warpalign/export.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace warpalign {

namespace backend {
class Memory;
class Queue;
class Mark;
class Driver;
}  // namespace backend

namespace detail {
struct DeviceState;
struct Access;
}  // namespace detail

enum class DeviceKind { cpu, gpu, other };

/// How linear interpolation of images is done on a device.
enum class Sampling {
  texture,  ///< the hardware's texture unit (8 fractional bits on most GPUs)
  buffer    ///< loads from memory and single-precision arithmetic
};

/// What is known of a device.
struct DeviceInfo {
  std::string id;        ///< "cuda:0", "opencl:1": accepted by open_device
  std::string backend;   ///< "cuda" or "opencl"
  std::string name;      ///< the device's own name
  std::string platform;  ///< the OpenCL platform's name, or "NVIDIA CUDA"
  std::string driver;    ///< the driver's version
  DeviceKind kind = DeviceKind::other;
  std::size_t memory_bytes = 0;          ///< global memory
  std::size_t max_allocation_bytes = 0;  ///< the largest single allocation
  Sampling sampling = Sampling::buffer;  ///< known once the device is open
  std::string sampling_reason;           ///< why, when it is not `texture`
  std::string fft;                       ///< the FFT library in use: "cufft", "vkfft", "clfft"
};

class Buffer;
class Image;
class Stream;

/// An opened device. Get one from open_device().
class WARPALIGN_API Device {
 public:
  [[nodiscard]] const DeviceInfo& info() const noexcept;

  /// Uninitialised device memory. Throws Error(out_of_memory) when it cannot be had,
  /// Error(invalid_argument) for zero bytes.
  [[nodiscard]] Buffer make_buffer(std::size_t bytes) const;
  /// Uninitialised, dense, row-major pixels in device memory. Every extent must be at least 1.
  [[nodiscard]] Image make_image(PixelType type, const Shape& shape) const;
  /// A new in-order stream. Only a `timed` stream can take marks.
  [[nodiscard]] Stream make_stream(bool timed = false) const;

  /// Whether both handles mean the same opened device.
  [[nodiscard]] bool same_as(const Device& other) const noexcept { return state_ == other.state_; }

 private:
  friend struct detail::Access;
  explicit Device(std::shared_ptr<detail::DeviceState> state);
  std::shared_ptr<detail::DeviceState> state_;
};

/// Device memory, freed with the object. Move-only.
class WARPALIGN_API Buffer {
 public:
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();

  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  [[nodiscard]] const Device& device() const noexcept { return device_; }

 private:
  friend struct detail::Access;
  Buffer(Device device, std::unique_ptr<backend::Memory> memory, std::size_t bytes);
  Device device_;
  std::unique_ptr<backend::Memory> memory_;
  std::size_t bytes_ = 0;
};

/// Dense row-major pixels in device memory. Move-only.
class WARPALIGN_API Image {
 public:
  [[nodiscard]] PixelType type() const noexcept { return type_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return buffer_.size_bytes(); }
  [[nodiscard]] const Device& device() const noexcept { return buffer_.device(); }
  [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }
  [[nodiscard]] Buffer& buffer() noexcept { return buffer_; }

 private:
  friend struct detail::Access;
  Image(Buffer buffer, PixelType type, const Shape& shape);
  Buffer buffer_;
  PixelType type_;
  Shape shape_;
};

/// A moment on a timed stream, for device-time measurements.
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

/// An in-order queue of work on a device. Everything is asynchronous except where said.
/// Move-only; its destructor waits for the work enqueued.
class WARPALIGN_API Stream {
 public:
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  [[nodiscard]] const Device& device() const noexcept { return device_; }
  [[nodiscard]] bool timed() const noexcept { return timed_; }

  /// Copies `bytes` from the host to the start of `target`. The host memory may be reused on
  /// return.
  void upload(const void* source, std::size_t bytes, Buffer& target);
  /// Copies a host image (of the same type and size, any row pitch) to `target`, likewise.
  void upload(const HostImage& source, Image& target);
  /// Copies the first `bytes` of `source` to the host and waits for them.
  void download(const Buffer& source, void* target, std::size_t bytes);
  /// Copies all pixels to the host, densely, and waits for them. `bytes` must be the image's.
  void download(const Image& source, void* target, std::size_t bytes);
  /// Device-to-device copy of two buffers of the same size on this device.
  void copy(const Buffer& source, Buffer& target);
  /// Waits until all enqueued work is done; reports failures of that work.
  void finish();

  /// Marks this point of the stream. Only on a timed stream.
  [[nodiscard]] Mark mark();
  /// Device time between two marks of this stream in milliseconds; waits for the later one.
  [[nodiscard]] double milliseconds_between(const Mark& from, const Mark& to);

 private:
  friend struct detail::Access;
  Stream(Device device, std::unique_ptr<backend::Queue> queue, bool timed);
  Device device_;
  std::unique_ptr<backend::Queue> queue_;
  bool timed_ = false;
};

}  // namespace warpalign

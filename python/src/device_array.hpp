// Dense arrays in device memory, owned by the package or by other libraries.
#pragma once

#include "opened_device.hpp"

#include <nanobind/nanobind.h>

#include <warpalign/device.hpp>
#include <warpalign/interop.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::python {

/// C-contiguous pixels on a device. The array frees the package's own memory. A Python object owns
/// and keeps foreign memory.
class DeviceArray {
 public:
  using Extents = std::vector<std::int64_t>;

  /// Allocates memory. `device` is the Python object of an OpenedDevice.
  DeviceArray(nanobind::object device, PixelType type, Extents extents);
  /// Wraps foreign memory; `handle` is a device pointer or a cl_mem.
  DeviceArray(nanobind::object device, PixelType type, Extents extents,
              const interop::UnownedMemory& memory);
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray();

  [[nodiscard]] OpenedDevice& opened() const { return *opened_; }
  [[nodiscard]] const nanobind::object& device() const { return device_; }
  [[nodiscard]] PixelType type() const { return type_; }
  [[nodiscard]] const Extents& extents() const { return extents_; }
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(size()) * size_of(type_);
  }
  [[nodiscard]] bool read_only() const { return memory_.read_only; }
  /// The memory itself, for a view of it.
  [[nodiscard]] const interop::UnownedMemory& memory() const { return memory_; }
  /// A device pointer that includes the offset, or the cl_mem.
  [[nodiscard]] void* handle() const;

  /// A view of the memory as an image of a shape with the same number of pixels.
  [[nodiscard]] Image image(const Shape& shape) const;
  [[nodiscard]] Buffer buffer() const;

  /// The shape of the last `dimensions` axes.
  [[nodiscard]] Shape shape(int dimensions) const;
  /// The number of arrays of that shape.
  [[nodiscard]] std::int64_t batch(int dimensions) const;

 private:
  nanobind::object device_;
  OpenedDevice* opened_;
  PixelType type_;
  Extents extents_;
  std::optional<Buffer> own_;
  interop::UnownedMemory memory_;
};

/// NumPy's name of a type.
[[nodiscard]] const char* dtype_name(PixelType type);
/// Throws TypeError if the library has no such pixel type.
[[nodiscard]] PixelType pixel_type_named(const std::string& dtype);

}  // namespace warpalign::python

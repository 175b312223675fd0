// Dense arrays in a device's memory: the package's own, and those of other libraries.
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

/// C-contiguous pixels on a device. The package's own memory is freed with the array; memory of
/// others is kept by the Python object that owns it.
class DeviceArray {
 public:
  using Extents = std::vector<std::int64_t>;

  /// New memory. `device` is the Python object of an OpenedDevice.
  DeviceArray(nanobind::object device, PixelType type, Extents extents);
  /// Memory of others; `handle` is a device pointer or a cl_mem.
  DeviceArray(nanobind::object device, PixelType type, Extents extents,
              const interop::ForeignMemory& memory);
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
  /// A device pointer, offset included, or the cl_mem.
  [[nodiscard]] void* handle() const;

  /// The memory as an image of a shape with as many pixels. Nothing is copied.
  [[nodiscard]] Image image(const Shape& shape) const;
  [[nodiscard]] Buffer buffer() const;

  /// The last `dimensions` axes.
  [[nodiscard]] Shape shape(int dimensions) const;
  /// How many arrays of that shape there are.
  [[nodiscard]] std::int64_t batch(int dimensions) const;

 private:
  nanobind::object device_;
  OpenedDevice* opened_;
  PixelType type_;
  Extents extents_;
  std::optional<Buffer> own_;
  interop::ForeignMemory memory_;
};

/// NumPy's name of a type.
[[nodiscard]] const char* dtype_name(PixelType type);
/// Throws TypeError where the library has no such pixels.
[[nodiscard]] PixelType pixel_type_named(const std::string& dtype);

}  // namespace warpalign::python

// Converts NumPy arrays to the library's views of host memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <warpalign/device.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>

namespace warpalign::python {

/// A C-contiguous, read-only array in host memory.
using InputArray = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;
/// A C-contiguous, writable array in host memory.
using OutputArray = nanobind::ndarray<nanobind::numpy, nanobind::c_contig, nanobind::device::cpu>;

/// Throws TypeError if the library has no such pixel type.
PixelType pixel_type_of(nanobind::dlpack::dtype type);

/// The shape of the array's last `dimensions` axes; the last axis is x.
template <typename Array>
Shape shape_of(const Array& array, int dimensions) {
  const std::size_t n = array.ndim();
  Shape shape{static_cast<std::int64_t>(array.shape(n - 1)), 1, 1};
  if (dimensions >= 2) shape.height = static_cast<std::int64_t>(array.shape(n - 2));
  if (dimensions >= 3) shape.depth = static_cast<std::int64_t>(array.shape(n - 3));
  return shape;
}

/// Throws ValueError.
[[noreturn]] void refuse(const char* why);

/// A view of an array as a two-dimensional image.
HostImage host_image(const InputArray& array);
/// A view of an array as a volume.
HostVolume host_volume(const InputArray& array);

/// A copy of host pixels, such as a mask, in the memory of a device. Waits for the device.
Image image_on(const Device& device, const HostImage& pixels);
Image image_on(const Device& device, const HostVolume& voxels);

}  // namespace warpalign::python

// Volumes of test data in the oracle's form and on devices, for the tests of splines and others.
#pragma once

#include "reference/plane.hpp"
#include "reference/spline/basis.hpp"
#include "reference/volume.hpp"

#include <warpalign/boundary.hpp>
#include <warpalign/device.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace test {

/// Independent values, uniform in [low, high), each exactly a float.
reference::Volume random_volume(const warpalign::Shape& shape, double low, double high,
                                std::uint32_t seed);
reference::ComplexVolume random_complex_volume(const warpalign::Shape& shape, std::uint32_t seed);
/// Random values that `type` (u8, u16, f16 or f32) represents exactly, over much of its range.
reference::Volume random_samples(const warpalign::Shape& shape, warpalign::PixelType type,
                                 std::uint32_t seed);

/// The volume with NaN at a fraction `part` of the voxels, each drawn independently, and in a box
/// at its corner.
reference::Volume with_marks(reference::Volume volume, double part, std::uint32_t seed);

/// Conversion to the nearest IEEE half and back. Overflow gives infinity.
std::uint16_t to_half(double value);
double from_half(std::uint16_t bits);

/// An image of `type` on the device. The values are rounded to `type`, which is u8, u16, f16 or
/// f32.
warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const reference::Volume& volume,
                           warpalign::PixelType type = warpalign::PixelType::f32);
warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const reference::ComplexVolume& volume);
/// Downloads an image of any real type, or of c32.
reference::Volume volume_from_device(warpalign::Stream& stream, const warpalign::Image& image);
reference::ComplexVolume complex_volume_from_device(warpalign::Stream& stream,
                                                    const warpalign::Image& image);

/// Every value rounded to single precision.
reference::Volume as_floats(reference::Volume volume);
reference::ComplexVolume as_floats(reference::ComplexVolume volume);

/// Tests use every extent from 1 to this one.
inline constexpr std::int64_t most = 33;
/// Shapes with this many dimensions, in which each axis has every extent from 1 to `most` once.
/// The stages work axis by axis, so all 33^3 combinations would test little more.
std::vector<warpalign::Shape> every_extent(int dimensions);

const std::vector<warpalign::Boundary>& boundaries();
/// The oracle's name for a boundary mode.
reference::Edge edge_of(warpalign::Boundary boundary);

template <class T>
warpalign::Shape shape_of(const reference::VolumeOf<T>& volume) {
  return {volume.width, volume.height, volume.depth};
}

/// The shape of a stack of `images` images.
inline warpalign::Shape stack_of(std::int64_t images, const warpalign::Shape& image) {
  return {image.width, image.height, images};
}

/// One image of a stack.
template <class T>
reference::PlaneOf<T> slice_of(const reference::VolumeOf<T>& stack, std::int64_t z) {
  reference::PlaneOf<T> slice(stack.width, stack.height);
  const auto first = stack.values.begin() + static_cast<std::ptrdiff_t>(stack.index(0, 0, z));
  std::copy_n(first, slice.values.size(), slice.values.begin());
  return slice;
}

}  // namespace test

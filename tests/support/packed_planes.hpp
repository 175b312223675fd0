// Planes of several sizes packed into one buffer, and other plain buffers for the tests of
// features.
#pragma once

#include "reference/plane.hpp"

#include <warpalign/device.hpp>
#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test {

template <class Value>
warpalign::Buffer to_buffer(const warpalign::Device& device, warpalign::Stream& stream,
                            const std::vector<Value>& values) {
  warpalign::Buffer buffer = device.make_buffer(values.size() * sizeof(Value));
  stream.upload(values.data(), values.size() * sizeof(Value), buffer);
  return buffer;
}

/// A buffer filled with bytes 0xFF, which read as NaN or as -1, so that a test notices what a
/// stage does not write.
inline warpalign::Buffer poisoned(const warpalign::Device& device, warpalign::Stream& stream,
                                  std::size_t bytes) {
  return to_buffer(device, stream, std::vector<std::uint8_t>(bytes, 0xFF));
}

template <class Value>
std::vector<Value> from_buffer(warpalign::Stream& stream, const warpalign::Buffer& buffer,
                               std::size_t count) {
  std::vector<Value> values(count);
  stream.download(buffer, values.data(), count * sizeof(Value));
  return values;
}

inline std::vector<warpalign::Shape> shapes_of(const std::vector<reference::Plane>& planes) {
  std::vector<warpalign::Shape> shapes;
  for (const reference::Plane& plane : planes) shapes.push_back({plane.width, plane.height, 1});
  return shapes;
}

/// The planes' values as floats, one plane after the other.
inline std::vector<float> packed(const std::vector<reference::Plane>& planes) {
  std::vector<float> values;
  for (const reference::Plane& plane : planes) {
    for (const double value : plane.values) values.push_back(static_cast<float>(value));
  }
  return values;
}

/// Splits packed values into one plane for each shape.
inline std::vector<reference::Plane> unpacked(const std::vector<float>& values,
                                              const std::vector<warpalign::Shape>& shapes) {
  std::vector<reference::Plane> planes;
  std::size_t next = 0;
  for (const warpalign::Shape& shape : shapes) {
    planes.emplace_back(shape.width, shape.height);
    for (double& value : planes.back().values) value = static_cast<double>(values.at(next++));
  }
  return planes;
}

/// Rounds every value to the nearest float.
inline void round_to_floats(reference::Plane& plane) {
  for (double& value : plane.values) value = static_cast<double>(static_cast<float>(value));
}

}  // namespace test

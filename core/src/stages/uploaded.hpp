// Constant tables of a stage on the device.
#pragma once

#include <warpalign/device.hpp>

#include <vector>

namespace warpalign::detail {

/// Copies the values to a new buffer, and waits for the copy.
template <class Value>
[[nodiscard]] Buffer uploaded(const Device& device, const std::vector<Value>& values) {
  Buffer buffer = device.make_buffer(values.size() * sizeof(Value));
  Stream stream = device.make_stream();
  stream.upload(values.data(), values.size() * sizeof(Value), buffer);
  stream.finish();
  return buffer;
}

}  // namespace warpalign::detail

// Records that kernels write and the host reads.
#pragma once

#include "device/access.hpp"

#include <warpalign/device.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Records on the device and memory for them on the host. A plan keeps both, so that fetching the
/// records allocates nothing.
template <class Record>
class Results {
 public:
  Results(const Device& device, std::size_t count)
      : on_device_(device.make_buffer(count * sizeof(Record))), on_host_(count) {}

  [[nodiscard]] backend::Memory& memory() { return Access::memory(on_device_); }

  /// The first `count` records. Waits for them; the result is valid until the next call.
  [[nodiscard]] std::span<const Record> fetch(Stream& stream, std::size_t count) {
    stream.download(on_device_, on_host_.data(), count * sizeof(Record));
    return std::span(on_host_).first(count);
  }
  [[nodiscard]] std::span<const Record> fetch(Stream& stream) {
    return fetch(stream, on_host_.size());
  }

 private:
  Buffer on_device_;
  std::vector<Record> on_host_;
};

}  // namespace warpalign::detail

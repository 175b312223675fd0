// Device memory and marks, as a backend implements them.
#pragma once

#include <cstddef>

namespace warpalign::backend {

/// One allocation of device memory, freed with the object.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;
};

/// A point in time on a queue.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  virtual ~Mark() = default;
};

/// The host memory of a 2-D copy: `rows` rows of `row_bytes` each, which are `pitch_bytes` apart on
/// the host and dense on the device.
struct HostRows {
  const void* data = nullptr;
  std::size_t rows = 1;
  std::size_t row_bytes = 0;
  std::size_t pitch_bytes = 0;
};

}  // namespace warpalign::backend

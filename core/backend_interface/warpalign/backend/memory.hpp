// Device memory, marks and events, as a backend implements them.
#pragma once

#include <warpalign/backend/foreign.hpp>

#include <cstddef>

namespace warpalign::backend {

/// One allocation of device memory, freed with the object, or memory that the caller owns.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  /// Null where the vendor's API has none.
  [[nodiscard]] virtual NativeHandle native() const noexcept { return nullptr; }
  [[nodiscard]] virtual Location location() const noexcept { return {this, 0}; }
};

/// One allocation of host memory that copies to and from a device are fastest with, freed with the
/// object.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  virtual ~HostMemory() = default;

  [[nodiscard]] virtual void* data() const noexcept = 0;
};

/// A point in time on a timed queue.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  virtual ~Mark() = default;
};

/// A point in a queue's work that other queues, or the host, can wait for. One that was never
/// recorded counts as reached.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  virtual ~Event() = default;

  [[nodiscard]] virtual bool done() const = 0;
  virtual void finish() const = 0;
  /// Null where the vendor's API has none, or none yet.
  [[nodiscard]] virtual NativeHandle native() const noexcept { return nullptr; }
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

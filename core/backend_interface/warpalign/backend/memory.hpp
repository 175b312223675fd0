// The interfaces of device memory, marks and events, which a backend implements.
#pragma once

#include <warpalign/backend/foreign.hpp>

#include <cstddef>

namespace warpalign::backend {

/// One allocation of device memory, freed with the object, or unowned memory of the caller.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  /// The vendor's handle; null if its API has none.
  [[nodiscard]] virtual NativeHandle native() const noexcept { return nullptr; }
  [[nodiscard]] virtual Location location() const noexcept { return {this, 0}; }
};

/// One allocation of host memory of the kind that gives the fastest copies, freed with the object.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  virtual ~HostMemory() = default;

  [[nodiscard]] virtual void* data() const noexcept = 0;
};

/// A time stamp on a timed queue.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  virtual ~Mark() = default;
};

/// A point in a queue's work that other queues, or the host, can wait for. An event that was never
/// recorded counts as reached.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  virtual ~Event() = default;

  [[nodiscard]] virtual bool done() const = 0;
  virtual void finish() const = 0;
  /// The vendor's handle; null if its API has none, or if the event is not recorded yet.
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

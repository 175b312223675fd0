// Points that can be made to fail, counted in the order in which they are reached.
//
// This is a separate library, because a backend module and the test that loads it share the count.
// No function allocates, since one kind of point is an allocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace faults {

/// Counts a point. Returns true if it must fail. `what` must be a string with static lifetime.
[[nodiscard]] bool reached(const char* what) noexcept;

/// Starts counting from zero. No point fails.
void count_points() noexcept;
/// Starts counting from zero. Point number `point`, from 0, fails, and no other.
void fail_at(std::size_t point) noexcept;
/// The same, but the failure also loses the device.
void lose_at(std::size_t point) noexcept;
/// Whether the point that failed also loses the device.
[[nodiscard]] bool is_loss() noexcept;
/// Stops counting. No point fails.
void stop() noexcept;

/// Whether points are being counted.
[[nodiscard]] bool are_counted() noexcept;

/// The number of points reached since the start.
[[nodiscard]] std::size_t points() noexcept;
/// The point that failed since the start, or null.
[[nodiscard]] const char* failed() noexcept;

/// The live objects of the device: an object with `bytes` of device memory (or 0) was created or
/// destroyed.
void born(std::size_t bytes = 0) noexcept;
void gone(std::size_t bytes = 0) noexcept;

struct Alive {
  std::int64_t objects = 0;  ///< memory, queues, stages, events, ...
  std::int64_t bytes = 0;    ///< of device memory
  friend bool operator==(const Alive&, const Alive&) = default;
};
[[nodiscard]] Alive alive() noexcept;

}  // namespace faults

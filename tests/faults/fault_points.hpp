// Points at which something can be made to fail, counted in the order in which they are reached.
//
// A library of its own, because a backend module and the test that loads it share the count. No
// function allocates: one kind of point is an allocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace faults {

/// Counts a point; true if this is the one that is to fail. `what` must live for ever.
[[nodiscard]] bool reached(const char* what) noexcept;

/// Starts counting from zero. No point fails.
void count_points() noexcept;
/// Starts counting from zero. Point number `point`, from 0, fails, and no other.
void fail_at(std::size_t point) noexcept;
/// The same, but with the failure the device is lost.
void lose_at(std::size_t point) noexcept;
/// Whether the point that has failed is one by which the device is lost.
[[nodiscard]] bool is_loss() noexcept;
/// Points are no longer counted, and none fails.
void stop() noexcept;

/// Whether points are being counted.
[[nodiscard]] bool are_counted() noexcept;

/// How many points have been reached since counting was started.
[[nodiscard]] std::size_t points() noexcept;
/// What failed since counting was started; null if nothing did.
[[nodiscard]] const char* failed() noexcept;

/// What is alive on the device's side. An object of `bytes` device memory (or 0) was made or went.
void born(std::size_t bytes = 0) noexcept;
void gone(std::size_t bytes = 0) noexcept;

struct Alive {
  std::int64_t objects = 0;  ///< memory, queues, stages, events, ...
  std::int64_t bytes = 0;    ///< of device memory
  friend bool operator==(const Alive&, const Alive&) = default;
};
[[nodiscard]] Alive alive() noexcept;

}  // namespace faults

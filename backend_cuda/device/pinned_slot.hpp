// Pinned host memory that a kernel fills while the host polls.
//
// Between the steps of a registration the host waits for results of a few kilobytes. With a copy
// and an event, the device and the driver need some 15 us to finish and to notice it (20 us for a
// copy to pageable memory); the stores of a kernel arrive after 2 us.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/queue.hpp>

#include <cstddef>
#include <memory>

namespace warpalign::cuda {

class Counters;
class StreamHandle;

class PinnedSlot {
 public:
  PinnedSlot(const Context& context, std::size_t bytes);
  PinnedSlot(const PinnedSlot&) = delete;
  PinnedSlot& operator=(const PinnedSlot&) = delete;
  /// Waits for the stream if it has not yet filled the slot.
  ~PinnedSlot();

  /// Enqueues the copy of the first `bytes` of `source`.
  void enqueue(const backend::Queue& queue, const void* source, std::size_t bytes);

  /// Waits for the copy that was enqueued last. The bytes stay valid until the next call of
  /// enqueue().
  [[nodiscard]] const void* wait();

 private:
  [[nodiscard]] bool arrived() const noexcept;
  void set_arrived(bool there) noexcept;

  const Context& context_;
  std::size_t bytes_;
  char* host_ = nullptr;      // the bytes, then a flag that marks their arrival
  char* mapped_ = nullptr;    // the device address of the same memory
  unsigned* word_ = nullptr;  // the flag, on the host
  std::unique_ptr<Counters> counter_;
  std::shared_ptr<StreamHandle> filling_;
};

}  // namespace warpalign::cuda

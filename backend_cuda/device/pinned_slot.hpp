// A place in host memory that a kernel fills while the host looks on.
//
// Results of a few kilobytes are what the host waits for between a registration's steps. A copy
// and an event take the device and the driver some 15 us to finish and to notice (20 us into
// pageable memory); a kernel's stores are there after two.
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
  /// Waits for the stream that is still to fill the slot.
  ~PinnedSlot();

  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

  /// Enqueues the copy of the first `bytes` of `source`.
  void enqueue(const backend::Queue& queue, const void* source, std::size_t bytes);

  /// Waits for what was enqueued last, which stays there until the next is.
  [[nodiscard]] const void* wait();

 private:
  [[nodiscard]] bool arrived() const noexcept;
  void set_arrived(bool there) noexcept;

  const Context& context_;
  std::size_t bytes_;
  char* host_ = nullptr;      // the bytes, then the word that says that they are there
  char* mapped_ = nullptr;    // the same as kernels see it
  unsigned* word_ = nullptr;  // on the host
  std::unique_ptr<Counters> counter_;
  std::shared_ptr<StreamHandle> filling_;
};

}  // namespace warpalign::cuda

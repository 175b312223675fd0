// Small copies to the device that the host does not wait for.
#pragma once

#include "device/context.hpp"
#include "device/host_memory.hpp"

#include <warpalign/backend/memory.hpp>

#include <array>
#include <cstddef>
#include <memory>

namespace warpalign::cuda {

class Event;
class StreamHandle;

/// What is uploaded on one stream passes through page-locked memory, so that the caller may reuse
/// his own at once. A copy that waited would keep the host from what it enqueues next.
class SmallUploads {
 public:
  static constexpr std::size_t largest = std::size_t{16} << 10;

  SmallUploads(const Context& context, std::shared_ptr<StreamHandle> stream);
  SmallUploads(const SmallUploads&) = delete;
  SmallUploads& operator=(const SmallUploads&) = delete;
  ~SmallUploads();  ///< waits for the copies

  /// Enqueues the copy of at most `largest` bytes.
  void enqueue(const void* source, std::size_t bytes, void* target);

 private:
  /// Filled from its start to its end, and then left until the copies of all of it are done.
  struct Half {
    std::size_t used = 0;
    std::unique_ptr<Event> copied;
  };
  void begin_other_half();

  const Context& context_;
  std::shared_ptr<StreamHandle> stream_;
  PinnedMemory memory_;
  std::array<Half, 2> halves_;
  std::size_t current_ = 0;
};

}  // namespace warpalign::cuda

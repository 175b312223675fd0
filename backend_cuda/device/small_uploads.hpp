// Small asynchronous uploads.
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

/// Uploads on one stream pass through page-locked memory, so that the caller may reuse its memory
/// at once. A synchronous copy would delay the host's next commands.
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
  /// Filled from its start to its end, and then unused until all its copies are done.
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

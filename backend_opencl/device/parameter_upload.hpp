// Parameters of a kernel that are too many for arguments: copied to the device by each execution.
#pragma once

#include "device/context.hpp"
#include "device/pinned.hpp"
#include "device/scratch_guard.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>

namespace warpalign::opencl {

/// A table on the device that a plan fills anew for each execution, by one copy that the host does
/// not wait for. Two tables on the host take turns, so that the next one can be written while the
/// last one is still being copied.
class ParameterUpload {
 public:
  ParameterUpload(const Context& context, std::size_t bytes, const char* stage);
  ParameterUpload(const ParameterUpload&) = delete;
  ParameterUpload& operator=(const ParameterUpload&) = delete;
  ~ParameterUpload();

  /// Begins a new table; waits if the one before the last is still being copied.
  void begin();
  /// Writes entry number `index` of a table of such entries.
  template <class Entry>
  void put(std::size_t index, const Entry& entry) {
    std::memcpy(static_cast<char*>(slots_[current_]->data()) + index * sizeof(Entry), &entry,
                sizeof(Entry));
  }
  /// Enqueues the copy of the first `bytes`. The table is for kernels of the same queue.
  cl_mem enqueue(cl_command_queue queue, std::size_t bytes);

 private:
  const char* stage_;
  CallSite site_;
  Handle<cl_mem> buffer_;
  std::array<std::unique_ptr<PinnedMemory>, 2> slots_;
  std::array<Handle<cl_event>, 2> copied_;  // null where no copy is pending
  std::size_t current_ = 0;
  ScratchGuard scratch_guard_;
};

}  // namespace warpalign::opencl

// Kernel parameters that are too many for arguments: each execution copies them to the device.
#pragma once

#include "device/context.hpp"
#include "device/pinned.hpp"
#include "device/scratch_guard.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>

namespace warpalign::opencl {

/// A table on the device that a plan refills for each execution. The copy is asynchronous. Two host
/// tables alternate, so that the host can write the next one during the copy of the last one.
class ParameterUpload {
 public:
  ParameterUpload(const Context& context, std::size_t bytes, const char* stage);
  ParameterUpload(const ParameterUpload&) = delete;
  ParameterUpload& operator=(const ParameterUpload&) = delete;
  ~ParameterUpload();

  /// Begins a new table. Waits while the copy of the table before the last is still running.
  void begin();
  /// Writes entry number `index` of a table of such entries.
  template <class Entry>
  void put(std::size_t index, const Entry& entry) {
    std::memcpy(static_cast<char*>(slots_[current_]->data()) + index * sizeof(Entry), &entry,
                sizeof(Entry));
  }
  /// Enqueues the copy of the first `bytes`. Only kernels of the same queue may use the table.
  cl_mem enqueue(cl_command_queue queue, std::size_t bytes);

 private:
  const char* stage_;
  CallSite site_;
  Handle<cl_mem> buffer_;
  std::array<std::unique_ptr<PinnedMemory>, 2> slots_;
  std::array<Handle<cl_event>, 2> copied_;  // null if no copy is pending
  std::size_t current_ = 0;
  ScratchGuard scratch_guard_;
};

}  // namespace warpalign::opencl

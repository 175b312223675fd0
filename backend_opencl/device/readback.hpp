// Asynchronous copies of a few bytes to the host.
#pragma once

#include "device/memory.hpp"
#include "device/pinned.hpp"

#include <warpalign/backend/queue.hpp>

namespace warpalign::opencl {

class PinnedReadback final : public backend::Readback {
 public:
  PinnedReadback(Context& context, std::size_t bytes);
  ~PinnedReadback() override;

  void enqueue(backend::Queue& queue, const backend::Memory& source, std::size_t bytes) override;
  const void* wait() override;

 private:
  CallSite site_;
  PinnedMemory host_;
  Handle<cl_event> arrived_;  // null while no copy is pending
};

}  // namespace warpalign::opencl

// Copies of a few bytes to the host.
#pragma once

#include "device/memory.hpp"
#include "device/pinned_slot.hpp"
#include "device/queue.hpp"

namespace warpalign::cuda {

class PinnedReadback final : public backend::Readback {
 public:
  PinnedReadback(const Context& context, std::size_t bytes) : slot_(context, bytes) {}

  void enqueue(backend::Queue& queue, const backend::Memory& source, std::size_t bytes) override {
    slot_.enqueue(queue, data<char>(source), bytes);
  }
  const void* wait() override { return slot_.wait(); }

 private:
  PinnedSlot slot_;
};

}  // namespace warpalign::cuda

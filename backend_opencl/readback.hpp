// A few bytes on their way to the host.
#pragma once

#include "memory.hpp"

#include <warpalign/backend/queue.hpp>

namespace warpalign::opencl {

/// By way of pinned memory: a buffer that the driver allocates on the host and that stays mapped.
/// NVIDIA's driver copies to it while the host goes on; to other memory it takes 50 us longer.
class PinnedReadback final : public backend::Readback {
 public:
  PinnedReadback(OpenedDevice& device, std::size_t bytes);
  ~PinnedReadback() override;

  void enqueue(backend::Queue& queue, const backend::Memory& source) override;
  const void* wait() override;

 private:
  Place place_;
  std::size_t bytes_;
  compute::command_queue service_;
  compute::buffer pinned_;
  void* host_ = nullptr;
  compute::event arrived_;  // none: nothing is under way
};

}  // namespace warpalign::opencl

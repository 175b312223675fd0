// Host memory that the driver allocates and that stays mapped.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/memory.hpp>

#include <cstddef>

namespace warpalign::opencl {

/// NVIDIA's driver copies to this memory while the host goes on. A copy to other memory takes 50 us
/// longer, and 10 us longer for the few bytes of a small download.
class PinnedMemory final : public backend::HostMemory {
 public:
  PinnedMemory(const Context& context, std::size_t bytes, const CallSite& site);
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() override;

  [[nodiscard]] void* data() const noexcept override { return data_; }

 private:
  Handle<cl_command_queue> service_;
  Handle<cl_mem> buffer_;
  void* data_ = nullptr;
};

}  // namespace warpalign::opencl

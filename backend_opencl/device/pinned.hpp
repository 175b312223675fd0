// Host memory that the driver allocates and that stays mapped.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/memory.hpp>

#include <cstddef>

namespace warpalign::opencl {

/// NVIDIA's driver copies to this memory asynchronously. A copy to other host memory takes 50 us
/// longer, and a small download of a few bytes takes 10 us longer.
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

// Pinned host memory.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/memory.hpp>

#include <cstddef>

namespace warpalign::cuda {

class PinnedMemory final : public backend::HostMemory {
 public:
  PinnedMemory(const CallSite& site, std::size_t bytes);
  ~PinnedMemory() override;

  [[nodiscard]] void* data() const noexcept override { return data_; }

 private:
  const Context& context_;
  void* data_ = nullptr;
};

}  // namespace warpalign::cuda

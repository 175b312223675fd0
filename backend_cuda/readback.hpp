// A few bytes on their way to pinned host memory.
#pragma once

#include "queue.hpp"

namespace warpalign::cuda {

class PinnedReadback final : public backend::Readback {
 public:
  PinnedReadback(const Context& context, std::size_t bytes);
  ~PinnedReadback() override;

  void enqueue(backend::Queue& queue, const backend::Memory& source) override;
  const void* wait() override;

 private:
  const Context& context_;
  std::size_t bytes_;
  Event arrived_;
  void* host_ = nullptr;
  bool under_way_ = false;
};

}  // namespace warpalign::cuda

// CUDA streams as queues, events as marks, and the guard of a stage's scratch memory.
#pragma once

#include "device/context.hpp"
#include "device/pinned_slot.hpp"

#include <warpalign/backend/queue.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>

namespace warpalign::cuda {

class StreamHandle {
 public:
  explicit StreamHandle(const Context& context);
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;
  ~StreamHandle();  ///< waits for the enqueued work
  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

 private:
  const Context& context_;
  cudaStream_t stream_ = nullptr;
};

class Event final : public backend::Mark {
 public:
  Event(const Context& context, unsigned flags);
  ~Event() override;
  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

 private:
  const Context& context_;
  cudaEvent_t event_ = nullptr;
};

class StreamQueue final : public backend::Queue {
 public:
  explicit StreamQueue(const Context& context);
  ~StreamQueue() override;

  void upload(const backend::HostRows& source, backend::Memory& target) override;
  void download(const backend::Memory& source, void* target, std::size_t bytes) override;
  void copy(const backend::Memory& source, backend::Memory& target, std::size_t bytes) override;
  void finish() override;
  std::unique_ptr<backend::Mark> mark() override;
  double milliseconds_between(const backend::Mark& from, const backend::Mark& to) override;

  [[nodiscard]] const std::shared_ptr<StreamHandle>& handle() const noexcept { return handle_; }

 private:
  void wait(const char* call);

  const Context& context_;
  std::shared_ptr<StreamHandle> handle_;
  std::optional<PinnedSlot> slot_;  ///< for small downloads; made by the first of them
};

/// The stream of a queue that this backend made.
[[nodiscard]] inline cudaStream_t stream_of(const backend::Queue& queue) noexcept {
  return static_cast<const StreamQueue&>(queue).handle()->get();
}

/// Orders the uses of a stage's scratch memory when the stage is enqueued on different queues.
/// Costs nothing while the stage stays on one queue.
class ScratchGuard {
 public:
  explicit ScratchGuard(const CallSite& site);
  /// Work that is enqueued on `queue` from now on runs after the stage's earlier work.
  void enter(const backend::Queue& queue);

 private:
  CallSite site_;
  Event event_;
  std::weak_ptr<StreamHandle> last_;
};

}  // namespace warpalign::cuda

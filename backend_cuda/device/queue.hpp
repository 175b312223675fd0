// CUDA streams as queues, events as marks, and the guard of a stage's scratch memory.
#pragma once

#include "device/context.hpp"
#include "device/event_pool.hpp"
#include "device/pinned_slot.hpp"
#include "device/small_uploads.hpp"

#include <warpalign/backend/queue.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <optional>

namespace warpalign::cuda {

class Event final : public backend::Mark {
 public:
  Event(const Context& context, unsigned flags);
  ~Event() override;
  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

 private:
  const Context& context_;
  cudaEvent_t event_ = nullptr;
};

/// A point in a stream's work, without timing, or an event of the caller.
class StreamEvent final : public backend::Event {
 public:
  explicit StreamEvent(const Context& context);
  StreamEvent(const Context& context, cudaEvent_t event) : context_(context), event_(event) {}
  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }
  [[nodiscard]] backend::NativeHandle native() const noexcept override { return event_; }
  [[nodiscard]] bool done() const override;
  void finish() const override;

 private:
  const Context& context_;
  std::optional<cuda::Event> own_;  ///< `Event` alone would name the base class
  cudaEvent_t event_;
};

/// A stream that objects with work on it keep alive. The caller may destroy a stream after its
/// queue is gone, so an event then replaces it.
class StreamHandle {
 public:
  StreamHandle(const Context& context, backend::QueuePriority priority);
  /// The caller's stream. Throws Error(invalid_argument) if it belongs to another device.
  StreamHandle(const Context& context, cudaStream_t stream);
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;
  ~StreamHandle();  ///< waits for the enqueued work, except on the caller's stream

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  /// The end of the work on the caller's stream, once it was released; null for an owned stream.
  [[nodiscard]] const std::shared_ptr<Event>& end() const noexcept { return end_; }
  /// Call this when the queue goes: the caller's stream is not used after this. Waits for the work
  /// on an owned stream.
  void let_go() noexcept;
  // Other threads may call these at any time, also during let_go(): for example, the scratch memory
  // of a plan that several threads share is guarded by the last stream that used it.
  /// The end of the work so far: `event`, which this records, or end(). Throws Error.
  [[nodiscard]] cudaEvent_t mark(cudaEvent_t event, const CallSite& site) const;
  [[nodiscard]] cudaError_t synchronize() const noexcept;
  [[nodiscard]] cudaError_t query() const noexcept;

 private:
  const Context& context_;
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<Event> end_;
  /// Locked while the caller's stream is in use: after its release it may not even exist.
  mutable std::mutex mutex_;
  bool is_released_ = false;
};

class StreamQueue final : public backend::Queue {
 public:
  StreamQueue(const Context& context, backend::QueuePriority priority);
  StreamQueue(const Context& context, cudaStream_t stream);  ///< the caller's stream
  ~StreamQueue() override;

  void upload(const backend::HostRows& source, backend::Memory& target) override;
  void download(const backend::Memory& source, void* target, std::size_t bytes) override;
  void copy(const backend::Memory& source, backend::Memory& target, std::size_t bytes) override;
  void finish() override;
  void record(backend::Event& event) override;
  void wait_for(const backend::Event& event) override;
  [[nodiscard]] backend::NativeHandle native() const noexcept override { return handle_->get(); }
  std::unique_ptr<backend::Mark> mark() override;
  double milliseconds_between(const backend::Mark& from, const backend::Mark& to) override;

  [[nodiscard]] const std::shared_ptr<StreamHandle>& handle() const noexcept { return handle_; }

 private:
  void wait(const char* call);

  const Context& context_;
  std::shared_ptr<StreamHandle> handle_;
  std::optional<PinnedSlot> slot_;       ///< for small downloads; created by the first one
  std::optional<SmallUploads> uploads_;  ///< created by the first small upload
};

/// The stream of a queue that this backend made.
[[nodiscard]] inline cudaStream_t stream_of(const backend::Queue& queue) noexcept {
  return static_cast<const StreamQueue&>(queue).handle()->get();
}

/// Orders the uses of a stage's scratch memory if the stage runs on different queues. Costs nothing
/// if the stage stays on one queue.
class ScratchGuard {
 public:
  explicit ScratchGuard(const CallSite& site);
  /// Makes work that is enqueued on `queue` from now on run after the stage's earlier work.
  void enter(const backend::Queue& queue);

 private:
  CallSite site_;
  PooledEvent event_;  ///< a member, so that a change of queue allocates nothing
  std::weak_ptr<StreamHandle> last_;
  std::shared_ptr<Event> last_end_;  ///< of the caller's stream, which outlives the queue
};

}  // namespace warpalign::cuda

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

/// A point in a stream's work, without timing, or an event of the caller's.
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
  std::optional<cuda::Event> own_;  ///< the name alone would be that of the base
  cudaEvent_t event_;
};

/// A stream, as what has work on it keeps hold of it. The caller may destroy a stream of his own
/// when its queue is gone, so an event then takes its place.
class StreamHandle {
 public:
  StreamHandle(const Context& context, backend::QueuePriority priority);
  /// The caller's stream. Throws Error(invalid_argument) if it is of another device.
  StreamHandle(const Context& context, cudaStream_t stream);
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;
  ~StreamHandle();  ///< waits for the enqueued work, except on the caller's stream

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  /// Where the work on the caller's stream ends, once it was let go of; null for our own.
  [[nodiscard]] const std::shared_ptr<Event>& end() const noexcept { return end_; }
  /// To be called when the queue goes: the caller's stream is not used after this. Waits for the
  /// work on our own.
  void let_go() noexcept;
  // Other threads may call these at any time, let_go() included: a plan that several threads share,
  // for one, has its scratch memory guarded by the stream that it was used on last.
  /// Where the work up to now ends: `event`, recorded for that, or end(). Throws Error.
  [[nodiscard]] cudaEvent_t mark(cudaEvent_t event, const CallSite& site) const;
  [[nodiscard]] cudaError_t synchronize() const noexcept;
  [[nodiscard]] cudaError_t query() const noexcept;

 private:
  const Context& context_;
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<Event> end_;
  /// Held while the caller's stream is used: once it was let go of, it may not even exist.
  mutable std::mutex mutex_;
  bool is_gone_ = false;
};

class StreamQueue final : public backend::Queue {
 public:
  StreamQueue(const Context& context, backend::QueuePriority priority);
  StreamQueue(const Context& context, cudaStream_t stream);  ///< the caller's
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
  std::optional<PinnedSlot> slot_;       ///< for small downloads; made by the first of them
  std::optional<SmallUploads> uploads_;  ///< likewise
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
  PooledEvent event_;  ///< here, so that nothing has to be made when the queue changes
  std::weak_ptr<StreamHandle> last_;
  std::shared_ptr<Event> last_end_;  ///< of the caller's stream, which outlives the queue
};

}  // namespace warpalign::cuda

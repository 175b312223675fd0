// A pool of events that order streams.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

namespace warpalign::cuda {

struct CallSite;
struct Context;

/// Threads that create events block each other in the driver, and each plan has some events, so
/// they are reused. The pool holds as many as were in use at the same time. Streams may still wait
/// for an event that was given back; they wait for the work after which it was recorded.
class EventPool {
 public:
  explicit EventPool(int ordinal) : ordinal_(ordinal) {}
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;
  ~EventPool();

  /// An event without timing. The device must be the thread's current one, here and below.
  [[nodiscard]] cudaEvent_t take(const CallSite& site);
  void give_back(cudaEvent_t event) noexcept;

 private:
  int ordinal_;
  std::mutex mutex_;
  std::vector<cudaEvent_t> idle_;
};

/// An event of the pool, which returns to it at the end of this object's life.
class PooledEvent {
 public:
  explicit PooledEvent(const CallSite& site);
  PooledEvent(const PooledEvent&) = delete;
  PooledEvent& operator=(const PooledEvent&) = delete;
  ~PooledEvent();
  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

 private:
  const Context& context_;
  cudaEvent_t event_;
};

}  // namespace warpalign::cuda

// A pool of events that order streams.
#include "device/event_pool.hpp"

#include "device/context.hpp"
#include "device/errors.hpp"

#include <new>

namespace warpalign::cuda {

EventPool::~EventPool() {
  static_cast<void>(cudaSetDevice(ordinal_));
  for (const cudaEvent_t event : idle_) static_cast<void>(cudaEventDestroy(event));
}

cudaEvent_t EventPool::take(const CallSite& site) {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      const cudaEvent_t event = idle_.back();
      idle_.pop_back();
      return event;
    }
  }
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags", site);
  return event;
}

void EventPool::give_back(cudaEvent_t event) noexcept {
  try {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(event);
  } catch (const std::bad_alloc&) {
    static_cast<void>(cudaEventDestroy(event));
  }
}

PooledEvent::PooledEvent(const CallSite& site) : context_(site.context) {
  context_.activate();
  event_ = context_.events->take(site);
}

PooledEvent::~PooledEvent() {
  context_.activate_quietly();
  context_.events->give_back(event_);
}

}  // namespace warpalign::cuda

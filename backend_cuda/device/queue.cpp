// CUDA streams as queues, events as marks, and the guard of a stage's scratch memory.
#include "device/queue.hpp"

#include "device/errors.hpp"
#include "device/foreign.hpp"
#include "device/memory.hpp"

#include <algorithm>
#include <cstring>

namespace warpalign::cuda {

namespace {

// CUDA has no priority below the default, which most of the caller's own streams have. Smaller
// numbers have precedence.
int stream_priority(backend::QueuePriority priority, const CallSite& site) {
  int lowest = 0;
  int highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "cudaDeviceGetStreamPriorityRange",
        site);
  return std::max(highest, lowest - static_cast<int>(priority));
}

}  // namespace

StreamHandle::StreamHandle(const Context& context, backend::QueuePriority priority)
    : context_(context) {
  context_.activate();
  const CallSite site{context_};
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                     stream_priority(priority, site)),
        "cudaStreamCreateWithPriority", site);
}

StreamHandle::StreamHandle(const Context& context, cudaStream_t stream)
    : context_(context),
      stream_(stream),
      end_(std::make_shared<Event>(context, cudaEventDisableTiming)) {
  check_stream(context, stream, end_->get());
}

StreamHandle::~StreamHandle() {
  if (end_) return;
  context_.activate_quietly();
  static_cast<void>(cudaStreamSynchronize(stream_));
  static_cast<void>(cudaStreamDestroy(stream_));
}

void StreamHandle::let_go() noexcept {
  context_.activate_quietly();
  if (!end_) {
    static_cast<void>(cudaStreamSynchronize(stream_));
    return;
  }
  const std::scoped_lock lock(mutex_);
  static_cast<void>(cudaEventRecord(end_->get(), stream_));
  is_released_ = true;
}

cudaEvent_t StreamHandle::mark(cudaEvent_t event, const CallSite& site) const {
  const std::scoped_lock lock(mutex_);
  if (is_released_) return end_->get();
  check(cudaEventRecord(event, stream_), "cudaEventRecord", site);
  return event;
}

// Waits for the caller's stream by an event, without holding the mutex that let_go() needs.
cudaError_t StreamHandle::synchronize() const noexcept {
  if (!end_) return cudaStreamSynchronize(stream_);
  {
    const std::scoped_lock lock(mutex_);
    if (!is_released_) {
      const cudaError_t code = cudaEventRecord(end_->get(), stream_);
      if (code != cudaSuccess) return code;
    }
  }
  return cudaEventSynchronize(end_->get());
}

cudaError_t StreamHandle::query() const noexcept {
  const std::scoped_lock lock(mutex_);
  return is_released_ ? cudaEventQuery(end_->get()) : cudaStreamQuery(stream_);
}

Event::Event(const Context& context, unsigned flags) : context_(context) {
  context_.activate();
  check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags", CallSite{context_});
}

Event::~Event() {
  context_.activate_quietly();
  static_cast<void>(cudaEventDestroy(event_));
}

StreamEvent::StreamEvent(const Context& context)
    : context_(context),
      own_(std::in_place, context, cudaEventDisableTiming),
      event_(own_->get()) {}

bool StreamEvent::done() const {
  context_.activate();
  const cudaError_t code = cudaEventQuery(event_);
  if (code == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  check(code, "cudaEventQuery", CallSite{context_, "event"});
  return true;
}

void StreamEvent::finish() const {
  context_.activate();
  check(cudaEventSynchronize(event_), "cudaEventSynchronize", CallSite{context_, "event"});
}

StreamQueue::StreamQueue(const Context& context, backend::QueuePriority priority)
    : context_(context), handle_(std::make_shared<StreamHandle>(context, priority)) {}

StreamQueue::StreamQueue(const Context& context, cudaStream_t stream)
    : context_(context), handle_(std::make_shared<StreamHandle>(context, stream)) {}

// A ScratchGuard in another thread may hold the handle a moment longer, so the destructor also
// waits here.
StreamQueue::~StreamQueue() { handle_->let_go(); }

void StreamQueue::wait(const char* call) {
  check(cudaStreamSynchronize(handle_->get()), call, CallSite{context_});
}

void StreamQueue::upload(const backend::HostRows& source, backend::Memory& target) {
  context_.activate();
  const bool dense = source.rows <= 1 || source.pitch_bytes == source.row_bytes;
  const std::size_t bytes = source.rows * source.row_bytes;
  if (dense && bytes <= SmallUploads::largest) {
    if (!uploads_) uploads_.emplace(context_, handle_);
    return uploads_->enqueue(source.data, bytes, data<char>(target));
  }
  if (dense) {
    check(cudaMemcpyAsync(data<char>(target), source.data, bytes, cudaMemcpyHostToDevice,
                          handle_->get()),
          "cudaMemcpyAsync", CallSite{context_});
  } else {
    check(cudaMemcpy2DAsync(data<char>(target), source.row_bytes, source.data, source.pitch_bytes,
                            source.row_bytes, source.rows, cudaMemcpyHostToDevice, handle_->get()),
          "cudaMemcpy2DAsync", CallSite{context_});
  }
  wait("cudaStreamSynchronize (upload)");  // the caller may reuse the host memory
}

void StreamQueue::download(const backend::Memory& source, void* target, std::size_t bytes) {
  constexpr std::size_t small = std::size_t{64} << 10;
  context_.activate();
  if (bytes <= small) {
    if (!slot_) slot_.emplace(context_, small);
    slot_->enqueue(*this, data<char>(source), bytes);
    std::memcpy(target, slot_->wait(), bytes);
    return;
  }
  check(cudaMemcpyAsync(target, data<char>(source), bytes, cudaMemcpyDeviceToHost, handle_->get()),
        "cudaMemcpyAsync", CallSite{context_});
  wait("cudaStreamSynchronize (download)");
}

void StreamQueue::copy(const backend::Memory& source, backend::Memory& target, std::size_t bytes) {
  context_.activate();
  check(cudaMemcpyAsync(data<char>(target), data<char>(source), bytes, cudaMemcpyDeviceToDevice,
                        handle_->get()),
        "cudaMemcpyAsync", CallSite{context_});
}

void StreamQueue::finish() {
  context_.activate();
  wait("cudaStreamSynchronize");
}

void StreamQueue::record(backend::Event& event) {
  context_.activate();
  check(cudaEventRecord(static_cast<StreamEvent&>(event).get(), handle_->get()), "cudaEventRecord",
        CallSite{context_, "event"});
}

void StreamQueue::wait_for(const backend::Event& event) {
  context_.activate();
  check(cudaStreamWaitEvent(handle_->get(), static_cast<const StreamEvent&>(event).get(), 0),
        "cudaStreamWaitEvent", CallSite{context_, "event"});
}

std::unique_ptr<backend::Mark> StreamQueue::mark() {
  auto event = std::make_unique<Event>(context_, cudaEventDefault);
  check(cudaEventRecord(event->get(), handle_->get()), "cudaEventRecord", CallSite{context_});
  return event;
}

double StreamQueue::milliseconds_between(const backend::Mark& from, const backend::Mark& to) {
  context_.activate();
  const cudaEvent_t begin = static_cast<const Event&>(from).get();
  const cudaEvent_t end = static_cast<const Event&>(to).get();
  check(cudaEventSynchronize(end), "cudaEventSynchronize", CallSite{context_});
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime",
        CallSite{context_});
  return milliseconds;
}

ScratchGuard::ScratchGuard(const CallSite& site) : site_(site), event_(site) {}

void ScratchGuard::enter(const backend::Queue& queue) {
  const std::shared_ptr<StreamHandle>& current = static_cast<const StreamQueue&>(queue).handle();
  // A stream that this backend owned and that no longer exists has already waited for its work; the
  // caller's stream has left an event. Another thread may be releasing it at this moment.
  const std::shared_ptr<StreamHandle> last = last_.lock();
  if (last == current) return;
  cudaEvent_t done = last_end_ ? last_end_->get() : nullptr;
  if (last) done = last->mark(event_.get(), site_);
  if (done != nullptr) {
    check(cudaStreamWaitEvent(current->get(), done, 0), "cudaStreamWaitEvent", site_);
  }
  last_ = current;
  last_end_ = current->end();
}

}  // namespace warpalign::cuda

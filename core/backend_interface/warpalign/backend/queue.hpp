// The interface of an in-order queue of device work, which a backend implements.
#pragma once

#include <warpalign/backend/memory.hpp>

#include <memory>

namespace warpalign::backend {

/// The priority of a queue's kernels over those of other queues. A hint: not every device has
/// priorities.
enum class QueuePriority { low, high };

class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  /// Waits for the enqueued work, unless the queue belongs to the caller. Never throws.
  virtual ~Queue() = default;

  /// Copies rows to the start of `target`. The caller may reuse the host memory after the call.
  virtual void upload(const HostRows& source, Memory& target) = 0;
  /// Copies the first `bytes` of `source` to the host and waits for the copy.
  virtual void download(const Memory& source, void* target, std::size_t bytes) = 0;
  virtual void copy(const Memory& source, Memory& target, std::size_t bytes) = 0;
  virtual void finish() = 0;

  /// Records the event: it is reached when all work enqueued so far is done. An event can be
  /// recorded again.
  virtual void record(Event& event) = 0;
  /// Makes work that is enqueued from now on wait for the event; the host does not wait.
  virtual void wait_for(const Event& event) = 0;
  /// The vendor's handle; null if its API has none.
  [[nodiscard]] virtual NativeHandle native() const noexcept { return nullptr; }

  /// Called on timed queues only.
  virtual std::unique_ptr<Mark> mark() = 0;
  /// The milliseconds between two marks by the device's clock. Waits for `to`.
  virtual double milliseconds_between(const Mark& from, const Mark& to) = 0;
};

/// An asynchronous copy of a few bytes to the host, while the queue continues. The destructor waits
/// for the copy.
class Readback {
 public:
  Readback() = default;
  Readback(const Readback&) = delete;
  Readback& operator=(const Readback&) = delete;
  virtual ~Readback() = default;

  /// Enqueues a copy of the first `bytes` bytes of `source`. The result of the previous copy
  /// becomes invalid.
  virtual void enqueue(Queue& queue, const Memory& source, std::size_t bytes) = 0;
  /// Waits for the copy if necessary. The result stays valid until the next enqueue.
  virtual const void* wait() = 0;
};

}  // namespace warpalign::backend

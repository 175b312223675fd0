// An in-order queue of device work, as a backend implements it.
#pragma once

#include <warpalign/backend/memory.hpp>

#include <memory>

namespace warpalign::backend {

class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  /// Waits for the work enqueued; never throws.
  virtual ~Queue() = default;

  /// Copies rows to the start of `target`; the host memory may be reused on return.
  virtual void upload(const HostRows& source, Memory& target) = 0;
  /// Copies the first `bytes` of `source` to the host and waits.
  virtual void download(const Memory& source, void* target, std::size_t bytes) = 0;
  virtual void copy(const Memory& source, Memory& target, std::size_t bytes) = 0;
  virtual void finish() = 0;

  /// Only called on timed queues.
  virtual std::unique_ptr<Mark> mark() = 0;
  /// Waits for `to`. Milliseconds by the device's clock.
  virtual double milliseconds_between(const Mark& from, const Mark& to) = 0;
};

/// A few bytes on their way to the host, while the queue goes on. Its destructor waits for them.
class Readback {
 public:
  Readback() = default;
  Readback(const Readback&) = delete;
  Readback& operator=(const Readback&) = delete;
  virtual ~Readback() = default;

  /// Enqueues a copy from the start of `source`. What the last one brought is gone.
  virtual void enqueue(Queue& queue, const Memory& source) = 0;
  /// Waits, if need be; what was copied stays there until the next enqueue.
  virtual const void* wait() = 0;
};

}  // namespace warpalign::backend

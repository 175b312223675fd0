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
  /// Waits for the enqueued work; never throws.
  virtual ~Queue() = default;

  /// Copies rows to the start of `target`. The host memory may be reused on return.
  virtual void upload(const HostRows& source, Memory& target) = 0;
  /// Copies the first `bytes` of `source` to the host and waits for the copy.
  virtual void download(const Memory& source, void* target, std::size_t bytes) = 0;
  virtual void copy(const Memory& source, Memory& target, std::size_t bytes) = 0;
  virtual void finish() = 0;

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

  /// Enqueues a copy from the start of `source`. The result of the previous copy becomes invalid.
  virtual void enqueue(Queue& queue, const Memory& source) = 0;
  /// Waits for the copy if necessary. The result stays valid until the next enqueue.
  virtual const void* wait() = 0;
};

}  // namespace warpalign::backend

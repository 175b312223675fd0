// An in-order OpenCL command queue.
#pragma once

#include "device/context.hpp"
#include "device/pinned.hpp"

#include <warpalign/backend/queue.hpp>

#include <optional>

namespace warpalign::opencl {

class Mark : public backend::Mark {
 public:
  explicit Mark(compute::event event) : event_(std::move(event)) {}
  [[nodiscard]] cl_event get() const noexcept { return event_.get(); }

 private:
  compute::event event_;
};

class Queue : public backend::Queue {
 public:
  Queue(const Context& context, bool timed);
  ~Queue() override;

  void upload(const backend::HostRows& source, backend::Memory& target) override;
  void download(const backend::Memory& source, void* target, std::size_t bytes) override;
  void copy(const backend::Memory& source, backend::Memory& target, std::size_t bytes) override;
  void finish() override;
  std::unique_ptr<backend::Mark> mark() override;
  double milliseconds_between(const backend::Mark& from, const backend::Mark& to) override;

  [[nodiscard]] cl_command_queue get() const noexcept { return queue_.get(); }

 private:
  const Context& context_;
  CallSite site_;
  compute::command_queue queue_;
  std::optional<PinnedMemory> staging_;  ///< for small downloads; made by the first one
};

/// The cl_command_queue of a queue that this backend made.
[[nodiscard]] inline cl_command_queue queue_of(const backend::Queue& queue) {
  return static_cast<const Queue&>(queue).get();
}

}  // namespace warpalign::opencl

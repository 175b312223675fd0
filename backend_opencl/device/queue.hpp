// An in-order OpenCL command queue.
#pragma once

#include "device/context.hpp"
#include "device/pinned.hpp"

#include <warpalign/backend/queue.hpp>

#include <optional>

namespace warpalign::opencl {

class Mark : public backend::Mark {
 public:
  explicit Mark(Handle<cl_event> event) : event_(std::move(event)) {}
  [[nodiscard]] cl_event get() const noexcept { return event_.get(); }

 private:
  Handle<cl_event> event_;
};

/// A marker, once it was recorded, or an event of the caller.
class Event final : public backend::Event {
 public:
  explicit Event(CallSite site, Handle<cl_event> event = {})
      : site_(std::move(site)), event_(std::move(event)) {}
  void set(Handle<cl_event> event) noexcept { event_ = std::move(event); }
  [[nodiscard]] cl_event get() const noexcept { return event_.get(); }
  [[nodiscard]] backend::NativeHandle native() const noexcept override { return get(); }
  [[nodiscard]] bool done() const override;
  void finish() const override;

 private:
  CallSite site_;
  Handle<cl_event> event_;
};

class Queue : public backend::Queue {
 public:
  Queue(const Context& context, bool timed);
  /// Uses the caller's queue. Throws Error(invalid_argument) if it belongs to another context or
  /// device, or is out of order.
  Queue(const Context& context, cl_command_queue queue);
  ~Queue() override;

  void upload(const backend::HostRows& source, backend::Memory& target) override;
  void download(const backend::Memory& source, void* target, std::size_t bytes) override;
  void copy(const backend::Memory& source, backend::Memory& target, std::size_t bytes) override;
  void finish() override;
  void record(backend::Event& event) override;
  void wait_for(const backend::Event& event) override;
  [[nodiscard]] backend::NativeHandle native() const noexcept override { return get(); }
  std::unique_ptr<backend::Mark> mark() override;
  double milliseconds_between(const backend::Mark& from, const backend::Mark& to) override;

  [[nodiscard]] cl_command_queue get() const noexcept { return queue_.get(); }

 private:
  const Context& context_;
  CallSite site_;
  Handle<cl_command_queue> queue_;
  bool is_callers_ = false;
  std::optional<PinnedMemory> staging_;  ///< for small downloads; created by the first one
};

/// The cl_command_queue of a queue that this backend made.
[[nodiscard]] inline cl_command_queue queue_of(const backend::Queue& queue) {
  return static_cast<const Queue&>(queue).get();
}

}  // namespace warpalign::opencl

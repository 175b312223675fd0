// Access for core to the state of the public handles. `Access` is the only friend of Device,
// Buffer, Image and Stream.
#pragma once

#include "device/fork.hpp"
#include "device/lost.hpp"

#include <warpalign/backend/driver.hpp>
#include <warpalign/device.hpp>
#include <warpalign/interop.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::detail {

/// The state that all handles of one opened device share. `module` keeps the backend's code loaded
/// and is released last.
struct DeviceState {
  std::shared_ptr<void> module;
  std::unique_ptr<backend::Driver> driver;
  std::mutex announced_mutex;
  std::set<std::string> announced;
  std::mutex queues_mutex;
  std::set<backend::Queue*> queues;  ///< of all streams
  /// Events at the end of the work on queues of the caller, for streams that were destroyed.
  std::vector<std::unique_ptr<backend::Event>> pending_ends;

  /// Waits for all work on this device. Ignores failures: the next call on the stream reports them.
  void finish_all() noexcept;
  /// Records the end of the work on a queue of the caller. The caller must hold `queues_mutex`.
  void add_pending_end(backend::Queue& queue, std::unique_ptr<backend::Event> end) noexcept;
};

struct Access {
  static Device make_device(std::shared_ptr<DeviceState> state) { return Device(std::move(state)); }
  static Buffer make_buffer(const Device& device, std::size_t bytes) {
    return Buffer(device, driver(device).allocate(bytes), bytes);
  }
  static HostBuffer make_host_buffer(const Device& device, std::size_t bytes) {
    return HostBuffer(device, driver(device).allocate_host(bytes), bytes);
  }
  static Image make_image(const Device& device, PixelType type, const Shape& shape,
                          std::size_t bytes) {
    return Image(Buffer(device, driver(device).allocate_image(type, shape), bytes), type, shape);
  }
  static Stream make_stream(const Device& device, bool timed,
                            backend::QueuePriority priority = backend::QueuePriority::high) {
    return Stream(device, driver(device).make_queue(timed, priority), timed);
  }
  static Buffer wrap_buffer(const Device& device, std::unique_ptr<backend::Memory> memory,
                            std::size_t bytes, bool read_only, std::shared_ptr<void> owner);
  static Image wrap_image(Buffer buffer, PixelType type, const Shape& shape) {
    return Image(std::move(buffer), type, shape);
  }
  static Stream wrap_stream(const Device& device, backend::NativeHandle queue,
                            std::shared_ptr<void> owner);
  static Event make_event(const Device& device, std::unique_ptr<backend::Event> event) {
    return Event(device, std::move(event));
  }
  static backend::NativeHandle native(const Event& event) { return event.event_->native(); }
  /// Starts the compilation of the plans that `make_plans` creates (Driver::announce). Only the
  /// first call with this name has an effect.
  static void announce(const Device& device, const std::string& name,
                       const std::function<void()>& make_plans) {
    {
      const std::lock_guard lock(device.state_->announced_mutex);
      if (!device.state_->announced.insert(name).second) return;
    }
    driver(device).announce(make_plans);
  }
  static DeviceState& state(const Device& device) { return *device.state_; }
  /// The driver or queue of a device that can be used. All creation of objects and all enqueues
  /// call one of these, which throw Error(device_unavailable) after a fork and for a lost device.
  static backend::Driver& driver(const Device& device) {
    check_not_forked();
    check_not_lost(*device.state_->driver);
    return *device.state_->driver;
  }
  static backend::Queue& queue(Stream& stream) {
    check_not_forked();
    check_not_lost(*stream.device_.state_->driver);
    return *stream.queue_;
  }
  static const backend::Queue& queue(const Stream& stream) { return *stream.queue_; }
  /// Memory for writing. Throws Error(invalid_argument) if it is read-only.
  static backend::Memory& memory(Buffer& buffer) {
    if (buffer.read_only_) refuse_to_write();
    return *buffer.memory_;
  }
  static const backend::Memory& memory(const Buffer& buffer) { return *buffer.memory_; }
  static backend::Memory& memory(Image& image) { return memory(image.buffer_); }
  static const backend::Memory& memory(const Image& image) { return *image.buffer_.memory_; }
  /// Whether the memory belongs to the caller, who may free it after the call.
  static bool is_foreign(const Image& image) { return image.buffer_.unowned_; }
  static bool is_read_only(const Image& image) { return image.buffer_.read_only_; }

 private:
  [[noreturn]] static void refuse_to_write();
};

}  // namespace warpalign::detail

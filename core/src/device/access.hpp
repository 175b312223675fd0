// Access for core to what is behind the public handles: the only friend of Device, Buffer, Image
// and Stream.
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
  /// The ends of work on queues of the caller's whose streams are gone.
  std::vector<std::unique_ptr<backend::Event>> left_work;

  /// Waits for everything that this device was given to do. A failure is that of the streams'
  /// users, who learn of it there.
  void finish_all() noexcept;
  /// Takes note of where the work on a queue of the caller's ends; `queues_mutex` is held.
  void note_end(backend::Queue& queue, std::unique_ptr<backend::Event> end) noexcept;
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
  /// Has the backend compile ahead what `make_plans` makes, the first time that it is asked to
  /// under this name.
  static void announce(const Device& device, const std::string& name,
                       const std::function<void()>& make_plans) {
    {
      const std::lock_guard lock(device.state_->announced_mutex);
      if (!device.state_->announced.insert(name).second) return;
    }
    driver(device).announce(make_plans);
  }
  static DeviceState& state(const Device& device) { return *device.state_; }
  /// Whatever is made, and whatever is enqueued, goes through one of these.
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
  /// Memory that is going to be written: throws Error(invalid_argument) for what is read-only.
  static backend::Memory& memory(Buffer& buffer) {
    if (buffer.read_only_) refuse_to_write();
    return *buffer.memory_;
  }
  static const backend::Memory& memory(const Buffer& buffer) { return *buffer.memory_; }
  static backend::Memory& memory(Image& image) { return memory(image.buffer_); }
  static const backend::Memory& memory(const Image& image) { return *image.buffer_.memory_; }
  /// Whether the memory is the caller's, who may free it as soon as a call is done with it.
  static bool is_foreign(const Image& image) { return image.buffer_.foreign_; }
  static bool is_read_only(const Image& image) { return image.buffer_.read_only_; }

 private:
  [[noreturn]] static void refuse_to_write();
};

}  // namespace warpalign::detail

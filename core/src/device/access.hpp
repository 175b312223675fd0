// Access for core to what is behind the public handles: the only friend of Device, Buffer, Image
// and Stream.
#pragma once

#include <warpalign/backend/driver.hpp>
#include <warpalign/device.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace warpalign::detail {

/// The state that all handles of one opened device share. `module` keeps the backend's code loaded
/// and is released last.
struct DeviceState {
  std::shared_ptr<void> module;
  std::unique_ptr<backend::Driver> driver;
  std::mutex announced_mutex;
  std::set<std::string> announced;
};

struct Access {
  static Device make_device(std::shared_ptr<DeviceState> state) { return Device(std::move(state)); }
  static Buffer make_buffer(const Device& device, std::size_t bytes) {
    return Buffer(device, driver(device).allocate(bytes), bytes);
  }
  static Image make_image(const Device& device, PixelType type, const Shape& shape,
                          std::size_t bytes) {
    return Image(Buffer(device, driver(device).allocate_image(type, shape), bytes), type, shape);
  }
  static Stream make_stream(const Device& device, bool timed) {
    return Stream(device, driver(device).make_queue(timed), timed);
  }
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
  static backend::Driver& driver(const Device& device) { return *device.state_->driver; }
  static backend::Queue& queue(Stream& stream) { return *stream.queue_; }
  static backend::Memory& memory(Buffer& buffer) { return *buffer.memory_; }
  static const backend::Memory& memory(const Buffer& buffer) { return *buffer.memory_; }
  static backend::Memory& memory(Image& image) { return *image.buffer_.memory_; }
  static const backend::Memory& memory(const Image& image) { return *image.buffer_.memory_; }
};

}  // namespace warpalign::detail

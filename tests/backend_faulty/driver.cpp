// A driver that wraps another backend's.
#include "driver.hpp"

namespace warpalign::faulty {

DeviceInfo renamed(DeviceInfo info) {
  info.id.replace(0, info.backend.size(), "faulty");
  info.backend = "faulty";
  return info;
}

Driver::Driver(std::unique_ptr<backend::Driver> inner)
    : inner_(std::move(inner)), info_(renamed(inner_->info())) {}

void Driver::announce(const std::function<void()>& make_plans) {
  point("announce", "announce", ErrorKind::build_failed, &loss_);
  inner_->announce(make_plans);
}

std::unique_ptr<backend::Memory> Driver::allocate(std::size_t bytes) {
  point("allocate", "memory", ErrorKind::out_of_memory, &loss_);
  return std::make_unique<Memory>(inner_->allocate(bytes), bytes);
}

std::unique_ptr<backend::Memory> Driver::allocate_image(PixelType type, const Shape& shape) {
  point("allocate an image", "memory", ErrorKind::out_of_memory, &loss_);
  const std::size_t bytes = static_cast<std::size_t>(shape.pixels()) * size_of(type);
  return std::make_unique<Memory>(inner_->allocate_image(type, shape), bytes);
}

std::unique_ptr<backend::HostMemory> Driver::allocate_host(std::size_t bytes) {
  point("allocate host memory", "memory", ErrorKind::out_of_memory, &loss_);
  return std::make_unique<HostMemory>(inner_->allocate_host(bytes), bytes);
}

std::unique_ptr<backend::Queue> Driver::make_queue(bool timed, backend::QueuePriority priority) {
  point("make a queue", "queue", ErrorKind::device_failure, &loss_);
  return std::make_unique<Queue>(inner_->make_queue(timed, priority), loss_);
}

std::unique_ptr<backend::Readback> Driver::make_readback(std::size_t bytes) {
  point("make a read-back", "readback", ErrorKind::out_of_memory, &loss_);
  return std::make_unique<Readback>(inner_->make_readback(bytes), loss_);
}

std::unique_ptr<backend::Event> Driver::make_event() {
  point("make an event", "event", ErrorKind::device_failure, &loss_);
  return std::make_unique<Event>(inner_->make_event(), loss_);
}

// The caller's memory is not counted, because it outlives the objects that wrap it.
std::unique_ptr<backend::Memory> Driver::wrap_memory(const backend::UnownedMemory& memory) {
  point("wrap memory", "wrap", ErrorKind::device_failure, &loss_);
  return std::make_unique<Memory>(inner_->wrap_memory(memory), 0);
}

std::unique_ptr<backend::Memory> Driver::wrap_image(const backend::UnownedMemory& memory,
                                                    PixelType type, const Shape& shape) {
  point("wrap an image", "wrap", ErrorKind::device_failure, &loss_);
  return std::make_unique<Memory>(inner_->wrap_image(memory, type, shape), 0);
}

backend::WrappedQueue Driver::wrap_queue(backend::NativeHandle queue) {
  point("wrap a queue", "wrap", ErrorKind::device_failure, &loss_);
  backend::WrappedQueue wrapped = inner_->wrap_queue(queue);
  return {std::make_unique<Queue>(std::move(wrapped.queue), loss_), wrapped.timed};
}

std::unique_ptr<backend::Event> Driver::wrap_event(backend::NativeHandle event) {
  point("wrap an event", "wrap", ErrorKind::device_failure, &loss_);
  return std::make_unique<Event>(inner_->wrap_event(event), loss_);
}

}  // namespace warpalign::faulty

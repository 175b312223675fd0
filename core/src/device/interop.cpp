// Interoperation with the vendors' APIs: the checks that do not depend on the vendor.
#include <warpalign/interop.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "device/image_bytes.hpp"
#include "device/loading/backend_loader.hpp"
#include "device/loading/host_services.hpp"

namespace warpalign {

namespace {

constexpr const char* stage = "wrap";

void check_backend(const Device& device, const std::string& backend) {
  if (device.info().backend == backend) return;
  detail::refuse(stage, device.info().id + " is a device of the backend " + device.info().backend +
                            ", not of " + backend);
}

backend::UnownedMemory checked(const Device& device, const std::string& backend,
                               const interop::UnownedMemory& memory, std::size_t bytes) {
  check_backend(device, backend);
  if (memory.handle == nullptr) detail::refuse(stage, "the memory is null");
  if (bytes == 0) detail::refuse(stage, "cannot wrap memory of zero bytes");
  return {memory.handle, memory.offset_bytes, bytes, memory.read_only};
}

}  // namespace

namespace detail {

void DeviceState::finish_all() noexcept {
  if (process_is_forked) return;
  const std::lock_guard lock(queues_mutex);
  for (backend::Queue* queue : queues) {
    try {
      queue->finish();
    } catch (...) {  // the next call on the stream reports the failure
    }
  }
  for (const auto& end : pending_ends) {
    try {
      end->finish();
    } catch (...) {
    }
  }
  pending_ends.clear();
}

void DeviceState::add_pending_end(backend::Queue& queue,
                                  std::unique_ptr<backend::Event> end) noexcept {
  try {
    queue.record(*end);
    std::erase_if(pending_ends, [](const auto& event) { return event->done(); });
    pending_ends.push_back(std::move(end));
  } catch (...) {
    try {
      queue.finish();
    } catch (...) {  // a queue that fails has no running work
    }
  }
}

void Access::refuse_to_write() {
  refuse(stage, "this memory was wrapped as read-only and cannot be an output");
}

Buffer Access::wrap_buffer(const Device& device, std::unique_ptr<backend::Memory> memory,
                           std::size_t bytes, bool read_only, std::shared_ptr<void> owner) {
  Buffer buffer(device, std::move(memory), bytes);
  buffer.unowned_ = true;
  buffer.read_only_ = read_only;
  buffer.owner_ = std::move(owner);
  return buffer;
}

Stream Access::wrap_stream(const Device& device, backend::NativeHandle queue,
                           std::shared_ptr<void> owner) {
  backend::WrappedQueue wrapped = driver(device).wrap_queue(queue);
  Stream stream(device, std::move(wrapped.queue), wrapped.timed);
  stream.end_ = driver(device).make_event();
  stream.owner_ = std::move(owner);
  return stream;
}

}  // namespace detail

Event::Event(const Device& device) : Event(device, detail::Access::driver(device).make_event()) {}
Event::Event(Device device, std::unique_ptr<backend::Event> event)
    : device_(std::move(device)), event_(std::move(event)) {}
Event::Event(Event&&) noexcept = default;
Event::~Event() = default;

Event& Event::operator=(Event&& other) noexcept {
  event_ = std::move(other.event_);
  device_ = std::move(other.device_);
  return *this;
}

void Event::record(Stream& stream) {
  detail::check_same_device("event", "the stream", device_, stream.device());
  detail::Access::queue(stream).record(*event_);
}

void Event::wait(Stream& stream) const {
  detail::check_same_device("event", "the stream", device_, stream.device());
  detail::Access::queue(stream).wait_for(*event_);
}

void Event::finish() const {
  detail::check_not_forked();
  event_->finish();
}

bool Event::done() const {
  detail::check_not_forked();
  return event_->done();
}

namespace interop {

Buffer wrap_buffer(const Device& device, const std::string& backend, const UnownedMemory& memory,
                   std::size_t bytes) {
  const backend::UnownedMemory unowned = checked(device, backend, memory, bytes);
  return detail::Access::wrap_buffer(device, detail::Access::driver(device).wrap_memory(unowned),
                                     bytes, memory.read_only, memory.owner);
}

Image wrap_image(const Device& device, const std::string& backend, const UnownedMemory& memory,
                 PixelType type, const Shape& shape) {
  const std::size_t bytes = detail::checked_image_bytes(stage, type, shape);
  const backend::UnownedMemory unowned = checked(device, backend, memory, bytes);
  return detail::Access::wrap_image(
      detail::Access::wrap_buffer(device,
                                  detail::Access::driver(device).wrap_image(unowned, type, shape),
                                  bytes, memory.read_only, memory.owner),
      type, shape);
}

Stream wrap_stream(const Device& device, const std::string& backend, void* queue,
                   std::shared_ptr<void> owner) {
  check_backend(device, backend);
  return detail::Access::wrap_stream(device, queue, std::move(owner));
}

Event wrap_event(const Device& device, const std::string& backend, void* event) {
  check_backend(device, backend);
  if (event == nullptr) detail::refuse(stage, "the event is null");
  return detail::Access::make_event(device, detail::Access::driver(device).wrap_event(event));
}

void* handle_of(const Buffer& buffer, const std::string& backend) {
  check_backend(buffer.device(), backend);
  return detail::Access::memory(buffer).native();
}

void* handle_of(const Stream& stream, const std::string& backend) {
  check_backend(stream.device(), backend);
  return detail::Access::queue(stream).native();
}

void* handle_of(const Event& event, const std::string& backend) {
  check_backend(event.device(), backend);
  return detail::Access::native(event);
}

void* context_of(const Device& device, const std::string& backend) {
  check_backend(device, backend);
  return detail::Access::driver(device).native_context();
}

void* device_handle_of(const Device& device, const std::string& backend) {
  check_backend(device, backend);
  return detail::Access::driver(device).native_device();
}

Device open_in_context(const std::string& backend, void* context, void* device,
                       const Config& config) {
  if (context == nullptr || device == nullptr) {
    detail::refuse("open", "the context or the device is null");
  }
  const detail::LoadedModule module = detail::load_module(backend, config);
  if (module.table->open_in_context == nullptr) {
    detail::refuse("open", "the backend " + backend + " cannot open a device in a given context");
  }
  auto state = std::make_shared<detail::DeviceState>();
  state->module = module.handle;
  state->driver = module.table->open_in_context(context, device,
                                                std::make_shared<detail::HostServices>(config));
  return detail::Access::make_device(std::move(state));
}

}  // namespace interop

}  // namespace warpalign

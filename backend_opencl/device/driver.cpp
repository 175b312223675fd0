// Implements core's interface to an opened OpenCL device.
#include "device/driver.hpp"

#include "device/foreign.hpp"
#include "device/memory.hpp"
#include "device/pinned.hpp"
#include "device/program_cache.hpp"
#include "device/queue.hpp"
#include "device/readback.hpp"
#include "device/sampling_test.hpp"

#include <warpalign/backend/extent.hpp>

#include <utility>

namespace warpalign::opencl {

Driver::Driver(cl_device_id id, const DeviceInfo& info, std::shared_ptr<const backend::Host> host)
    : context_(id, info, std::move(host)) {
  choose_sampling(context_);
}

Driver::Driver(cl_context context, cl_device_id id, const DeviceInfo& info,
               std::shared_ptr<const backend::Host> host)
    : context_(context, id, info, std::move(host)) {
  choose_sampling(context_);
}

void Driver::announce(const std::function<void()>& make_plans) {
  context_.programs().announce(make_plans);
}

void Driver::store_compiled_kernels() { context_.programs().keep(); }

std::unique_ptr<backend::Memory> Driver::allocate(std::size_t bytes) {
  return std::make_unique<Memory>(context_, bytes);
}

std::unique_ptr<backend::HostMemory> Driver::allocate_host(std::size_t bytes) {
  if (context_.is_cpu()) return backend::Driver::allocate_host(bytes);
  return std::make_unique<PinnedMemory>(context_, bytes, context_.call_site("memory"));
}

std::unique_ptr<backend::Queue> Driver::make_queue(bool timed,
                                                   backend::QueuePriority /*priority*/) {
  return std::make_unique<Queue>(context_, timed);
}

std::unique_ptr<backend::Readback> Driver::make_readback(std::size_t bytes) {
  return std::make_unique<PinnedReadback>(context_, bytes);
}

std::unique_ptr<backend::Event> Driver::make_event() {
  return std::make_unique<Event>(context_.call_site("event"));
}

std::unique_ptr<backend::Memory> Driver::wrap_memory(const backend::UnownedMemory& memory) {
  return std::make_unique<Memory>(context_, memory);
}

backend::WrappedQueue Driver::wrap_queue(backend::NativeHandle queue) {
  auto* const commands = static_cast<cl_command_queue>(queue);
  auto wrapped = std::make_unique<Queue>(context_, commands);
  return {std::move(wrapped), is_profiled(commands)};
}

std::unique_ptr<backend::Event> Driver::wrap_event(backend::NativeHandle event) {
  auto* const raw = static_cast<cl_event>(event);
  check_event(context_, raw);
  return std::make_unique<Event>(context_.call_site("event"), share(raw));
}

cl_int extent(std::int64_t n, const CallSite& site) {
  return backend::checked_extent(n, [&] {
    return ErrorContext{.stage = site.stage, .backend = "opencl", .device = site.device};
  });
}

}  // namespace warpalign::opencl

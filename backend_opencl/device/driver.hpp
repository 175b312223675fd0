// An opened OpenCL device, behind the interface that core uses.
#pragma once

#include "device/stage.hpp"

#include <warpalign/backend/driver.hpp>

#include <functional>

namespace warpalign::opencl {

class Driver final : public backend::DriverWithStages<Driver> {
 public:
  Driver(cl_device_id id, const DeviceInfo& info, std::shared_ptr<const backend::Host> host);
  /// Uses a context that the caller made.
  Driver(cl_context context, cl_device_id id, const DeviceInfo& info,
         std::shared_ptr<const backend::Host> host);

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return context_.info(); }
  [[nodiscard]] const char* lost() const noexcept override { return context_.lost(); }

  void announce(const std::function<void()>& make_plans) override;
  void store_compiled_kernels() override;

  std::unique_ptr<backend::Memory> allocate(std::size_t bytes) override;
  std::unique_ptr<backend::HostMemory> allocate_host(std::size_t bytes) override;
  [[nodiscard]] std::size_t allocations() const noexcept override { return context_.allocations(); }
  std::unique_ptr<backend::Queue> make_queue(bool timed, backend::QueuePriority priority) override;
  std::unique_ptr<backend::Readback> make_readback(std::size_t bytes) override;
  std::unique_ptr<backend::Event> make_event() override;

  std::unique_ptr<backend::Memory> wrap_memory(const backend::UnownedMemory& memory) override;
  backend::WrappedQueue wrap_queue(backend::NativeHandle queue) override;
  std::unique_ptr<backend::Event> wrap_event(backend::NativeHandle event) override;
  [[nodiscard]] backend::NativeHandle native_context() const noexcept override {
    return context_.handle().get();
  }
  [[nodiscard]] backend::NativeHandle native_device() const noexcept override {
    return context_.id();
  }

  template <class Stage>
  std::unique_ptr<Stage> make_stage(const typename Stage::Setup& setup) {
    return opencl::make<Stage>(context_, setup);
  }

 private:
  Context context_;
};

}  // namespace warpalign::opencl

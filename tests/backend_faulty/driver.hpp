// A driver that wraps another backend's.
#pragma once

#include "other_stages.hpp"

#include <warpalign/backend/driver.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace warpalign::faulty {

class Driver final : public backend::DriverWithStages<Driver> {
 public:
  explicit Driver(std::unique_ptr<backend::Driver> inner);

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] const char* lost() const noexcept override { return loss_.code(); }
  [[nodiscard]] bool has_concurrent_queues() const noexcept override {
    return inner_->has_concurrent_queues();
  }
  void announce(const std::function<void()>& make_plans) override;
  void store_compiled_kernels() override { inner_->store_compiled_kernels(); }
  std::unique_ptr<backend::Memory> allocate(std::size_t bytes) override;
  std::unique_ptr<backend::Memory> allocate_image(PixelType type, const Shape& shape) override;
  std::unique_ptr<backend::HostMemory> allocate_host(std::size_t bytes) override;
  [[nodiscard]] std::size_t allocations() const noexcept override { return inner_->allocations(); }
  std::unique_ptr<backend::Queue> make_queue(bool timed, backend::QueuePriority priority) override;
  std::unique_ptr<backend::Readback> make_readback(std::size_t bytes) override;
  std::unique_ptr<backend::Event> make_event() override;

  std::unique_ptr<backend::Memory> wrap_memory(const backend::UnownedMemory& memory) override;
  std::unique_ptr<backend::Memory> wrap_image(const backend::UnownedMemory& memory, PixelType type,
                                              const Shape& shape) override;
  backend::WrappedQueue wrap_queue(backend::NativeHandle queue) override;
  std::unique_ptr<backend::Event> wrap_event(backend::NativeHandle event) override;
  [[nodiscard]] backend::NativeHandle native_context() const noexcept override {
    return inner_->native_context();
  }
  [[nodiscard]] backend::NativeHandle native_device() const noexcept override {
    return inner_->native_device();
  }

  template <class Stage>
  std::unique_ptr<Stage> make_stage(const typename Stage::Setup& setup) {
    static const std::string what = "make " + stage_name<Stage>();
    point(what.c_str(), stage_name<Stage>().c_str(), ErrorKind::build_failed, &loss_);
    std::unique_ptr<Stage> stage = inner_->make(setup);
    if (stage == nullptr) return nullptr;  // this device does not support the stage
    return std::make_unique<typename Wrapper<Stage>::Type>(std::move(stage), loss_);
  }

 private:
  Counted counted_;
  backend::DeviceLoss loss_;  // objects of the driver refer to it, and are destroyed first
  std::unique_ptr<backend::Driver> inner_;
  DeviceInfo info_;
};

/// The same device, named as a device of this backend.
[[nodiscard]] DeviceInfo renamed(DeviceInfo info);

}  // namespace warpalign::faulty

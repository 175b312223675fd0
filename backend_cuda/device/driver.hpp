// An opened CUDA device.
#pragma once

#include "device/stage.hpp"
#include "device/wrapped_textures.hpp"

#include <warpalign/backend/driver.hpp>

#include <memory>
#include <vector>

namespace warpalign::cuda {

/// Throws Error(device_unavailable) if there is no driver or no device.
[[nodiscard]] std::vector<DeviceInfo> list_devices();

class CudaDriver final : public backend::DriverWithStages<CudaDriver> {
 public:
  explicit CudaDriver(std::size_t index);

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] const char* lost() const noexcept override { return context_.loss->code(); }
  [[nodiscard]] bool has_concurrent_queues() const noexcept override { return true; }

  std::unique_ptr<backend::Memory> allocate(std::size_t bytes) override;
  std::unique_ptr<backend::Memory> allocate_image(PixelType type, const Shape& shape) override;
  std::unique_ptr<backend::HostMemory> allocate_host(std::size_t bytes) override;
  [[nodiscard]] std::size_t allocations() const noexcept override {
    return context_.allocations->load(std::memory_order_relaxed);
  }
  std::unique_ptr<backend::Queue> make_queue(bool timed, backend::QueuePriority priority) override;
  std::unique_ptr<backend::Readback> make_readback(std::size_t bytes) override;
  std::unique_ptr<backend::Event> make_event() override;

  std::unique_ptr<backend::Memory> wrap_memory(const backend::UnownedMemory& memory) override;
  std::unique_ptr<backend::Memory> wrap_image(const backend::UnownedMemory& memory, PixelType type,
                                              const Shape& shape) override;
  backend::WrappedQueue wrap_queue(backend::NativeHandle queue) override;
  std::unique_ptr<backend::Event> wrap_event(backend::NativeHandle event) override;

  template <class Stage>
  std::unique_ptr<Stage> make_stage(const typename Stage::Setup& setup) {
    return cuda::make<Stage>(context_, setup);
  }

 private:
  void choose_sampling();

  DeviceInfo info_;
  Context context_;
  WrappedTextures wrapped_textures_{context_};
};

}  // namespace warpalign::cuda

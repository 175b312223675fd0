// The module's entry point: one device, the host, with one stage.
#include "memory.hpp"
#include "sobel.hpp"

#include <warpalign/backend/module.hpp>
#include <warpalign/error.hpp>

#include <type_traits>

namespace warpalign::plain {

namespace {

DeviceInfo host_info() {
  DeviceInfo info;
  info.id = "plain:0";
  info.backend = "plain";
  info.name = "this machine's processor";
  info.platform = "plain C++";
  info.driver = "none";
  info.kind = DeviceKind::cpu;
  info.sampling = Sampling::buffer;
  info.fft = "none";
  return info;
}

class Driver final : public backend::DriverWithStages<Driver> {
 public:
  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  std::unique_ptr<backend::Memory> allocate(std::size_t bytes) override {
    ++allocations_;
    return std::make_unique<Memory>(bytes);
  }
  [[nodiscard]] std::size_t allocations() const noexcept override { return allocations_; }
  std::unique_ptr<backend::Queue> make_queue(bool /*timed*/,
                                             backend::QueuePriority /*priority*/) override {
    return std::make_unique<Queue>();
  }
  std::unique_ptr<backend::Readback> make_readback(std::size_t bytes) override {
    return std::make_unique<Readback>(bytes);
  }
  std::unique_ptr<backend::Event> make_event() override { return std::make_unique<Event>(); }

  template <class Stage>
  std::unique_ptr<Stage> make_stage(const typename Stage::Setup& setup) {
    if constexpr (std::is_same_v<Stage, backend::Sobel>) {
      return std::make_unique<Sobel>(setup);
    } else {
      throw Error(ErrorKind::invalid_argument, "this backend has no stage but Sobel",
                  {.backend = "plain", .device = info_.name});
    }
  }

 private:
  DeviceInfo info_ = host_info();
  std::size_t allocations_ = 0;
};

std::vector<DeviceInfo> list_devices() { return {host_info()}; }

std::unique_ptr<backend::Driver> open(std::size_t index,
                                      std::shared_ptr<const backend::Host> /*host*/) {
  if (index == 0) return std::make_unique<Driver>();
  throw Error(ErrorKind::device_unavailable, "there is no device but plain:0",
              {.backend = "plain"});
}

constexpr backend::ModuleTable table{backend::abi_number, "plain", &list_devices, &open, nullptr};

}  // namespace

}  // namespace warpalign::plain

WARPALIGN_MODULE_EXPORT const warpalign::backend::ModuleTable* warpalign_backend_module() {
  return &warpalign::plain::table;
}

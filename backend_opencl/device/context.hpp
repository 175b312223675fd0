// An opened device.
#pragma once

#include "device/errors.hpp"
#include "device/handles.hpp"

#include <warpalign/backend/host.hpp>
#include <warpalign/device.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

namespace warpalign::opencl {

class FftPlans;
class ProgramCache;

/// One device, one context, and the programs compiled for it. It outlives everything made with it.
class Context {
 public:
  Context(cl_device_id id, DeviceInfo info, std::shared_ptr<const backend::Host> host);
  /// Uses the caller's context, which must contain the device.
  Context(cl_context context, cl_device_id id, DeviceInfo info,
          std::shared_ptr<const backend::Host> host);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  [[nodiscard]] const DeviceInfo& info() const noexcept { return info_; }
  [[nodiscard]] DeviceInfo& info() noexcept { return info_; }
  [[nodiscard]] const backend::Host& host() const noexcept { return *host_; }
  [[nodiscard]] cl_device_id id() const noexcept { return device_.get(); }
  [[nodiscard]] const Handle<cl_context>& handle() const noexcept { return context_; }
  [[nodiscard]] ProgramCache& programs() noexcept { return *programs_; }
  [[nodiscard]] FftPlans& fft_plans() noexcept { return *fft_plans_; }

  [[nodiscard]] bool is_cpu() const noexcept { return info_.kind == DeviceKind::cpu; }
  /// True for CPUs whose compiler keeps vectors. rusticl's compiler splits them into scalars, and
  /// takes a minute for the kernels of prefilter_cpu.cl. Such a CPU uses the GPUs' kernels.
  [[nodiscard]] bool has_vectors() const noexcept { return has_vectors_; }
  [[nodiscard]] CallSite call_site(std::string stage) const {
    return {std::move(stage), info_.name, health_.get()};
  }
  [[nodiscard]] const char* lost() const noexcept { return health_->loss.code(); }
  /// The full names of platform, device and driver. Compiled programs depend on them.
  [[nodiscard]] const std::string& identity() const noexcept { return identity_; }

  /// Call this for every buffer and image that is created.
  void count_allocation() const noexcept { allocations_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t allocations() const noexcept {
    return allocations_.load(std::memory_order_relaxed);
  }

  /// The queue for work during the opening of a device or the creation of a plan. Creating a queue
  /// takes longer than most of that work, so all threads share one. Wait for the work that you
  /// enqueue.
  [[nodiscard]] Handle<cl_command_queue> service_queue() const;

 private:
  Context(Handle<cl_context> context, cl_device_id id, DeviceInfo info,
          std::shared_ptr<const backend::Host> host);

  DeviceInfo info_;
  std::unique_ptr<Health> health_;
  std::shared_ptr<const backend::Host> host_;
  Handle<cl_device_id> device_;
  Handle<cl_context> context_;
  std::string identity_;
  bool has_vectors_ = false;
  mutable std::mutex service_mutex_;
  mutable Handle<cl_command_queue> service_queue_;  ///< created on first use
  std::unique_ptr<ProgramCache> programs_;
  std::unique_ptr<FftPlans> fft_plans_;
  mutable std::atomic<std::size_t> allocations_{0};
};

}  // namespace warpalign::opencl

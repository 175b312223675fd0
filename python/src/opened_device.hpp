// An opened device with the plans that the package keeps on it.
#pragma once

#include "double_spline_plans.hpp"
#include "fill_plans.hpp"
#include "plan_pool.hpp"
#include "prefilter_plans.hpp"
#include "resample_plans.hpp"
#include "zoom_plans.hpp"

#include <warpalign/device.hpp>
#include <warpalign/interop.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace warpalign::python {

struct OpenedDevice {
  explicit OpenedDevice(Device opened)
      : device(std::move(opened)),
        resample(max_kept_bytes()),
        prefilter(max_kept_bytes()),
        resample_on_device(max_kept_bytes()),
        prefilter_on_device(max_kept_bytes()),
        warp_on_device(max_kept_bytes()),
        double_spline(max_kept_bytes()),
        double_spline_on_device(max_kept_bytes()),
        zoom(max_kept_bytes()),
        zoom_on_device(max_kept_bytes()),
        fill_on_device(max_kept_bytes()) {}

  /// Calls use(stream) with the caller's queue (a cudaStream_t or cl_command_queue), ordered with
  /// the caller's work there. Without a queue, uses the one that orders the package's own arrays,
  /// which on CUDA is the default stream.
  template <typename Use>
  void with_stream(const std::optional<std::uintptr_t>& queue, Use&& use) {
    if (queue) {
      Stream stream = interop::wrap_stream(device, backend(), reinterpret_cast<void*>(*queue));
      return use(stream);
    }
    const std::lock_guard lock(stream_mutex_);
    if (!stream_) {
      stream_.emplace(backend() == "cuda" ? interop::wrap_stream(device, "cuda", nullptr)
                                          : device.make_stream());
    }
    use(*stream_);
  }

  [[nodiscard]] const std::string& backend() const { return device.info().backend; }

  void release_plans() {
    resample.clear();
    prefilter.clear();
    resample_on_device.clear();
    prefilter_on_device.clear();
    warp_on_device.clear();
    double_spline.clear();
    double_spline_on_device.clear();
    zoom.clear();
    zoom_on_device.clear();
    fill_on_device.clear();
  }
  [[nodiscard]] std::size_t kept_plans() {
    return resample.size() + prefilter.size() + resample_on_device.size() +
           prefilter_on_device.size() + warp_on_device.size() + double_spline.size() +
           double_spline_on_device.size() + zoom.size() + zoom_on_device.size() +
           fill_on_device.size();
  }

  Device device;
  PlanPool<ResampleSpec, ResampleWork> resample;
  PlanPool<PrefilterSpec, PrefilterWork> prefilter;
  PlanPool<ResampleSpec, ResampleOnDevice> resample_on_device;
  PlanPool<PrefilterSpec, PrefilterOnDevice> prefilter_on_device;
  PlanPool<ResampleSpec, WarpOnDevice> warp_on_device;
  PlanPool<DoubleSplineSpec, DoubleSplineWork> double_spline;
  PlanPool<DoubleSplineSpec, DoubleSplineOnDevice> double_spline_on_device;
  PlanPool<ZoomSpec, ZoomWork> zoom;
  PlanPool<ZoomSpec, ZoomOnDevice> zoom_on_device;
  PlanPool<FillMissingSpec, FillOnDevice> fill_on_device;

 private:
  /// The device memory for each kind of plan: a sixteenth of the total, at most 512 MiB.
  [[nodiscard]] std::size_t max_kept_bytes() const {
    return std::min<std::size_t>(device.info().memory_bytes / 16, std::size_t{512} << 20);
  }

  std::mutex stream_mutex_;
  std::optional<Stream> stream_;
};

/// Calls a function with a plan of the pool or a new one, and returns it to the pool on success.
template <typename Key, typename Work, typename Use>
void with_plan(const Device& device, PlanPool<Key, Work>& pool, const Key& key, Use&& use) {
  std::unique_ptr<Work> work = pool.take(key);
  if (!work) work = std::make_unique<Work>(device, key);
  use(*work);
  pool.give_back(key, std::move(work));
}

}  // namespace warpalign::python

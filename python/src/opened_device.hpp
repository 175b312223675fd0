// An opened device with the plans that calls of the package keep on it.
#pragma once

#include "plan_pool.hpp"
#include "prefilter_plans.hpp"
#include "resample_plans.hpp"

#include <warpalign/device.hpp>

#include <algorithm>

namespace warpalign::python {

struct OpenedDevice {
  explicit OpenedDevice(Device opened)
      : device(std::move(opened)), resample(max_kept_bytes()), prefilter(max_kept_bytes()) {}

  Device device;
  PlanPool<ResampleKey, ResampleWork> resample;
  PlanPool<PrefilterKey, PrefilterWork> prefilter;

 private:
  /// Of device memory, for each kind of plans: a sixteenth, and at most 512 MiB.
  [[nodiscard]] std::size_t max_kept_bytes() const {
    return std::min<std::size_t>(device.info().memory_bytes / 16, std::size_t{512} << 20);
  }
};

}  // namespace warpalign::python

// The weights of separable stages, on the device.
#pragma once

#include "device/memory.hpp"

#include <warpalign/backend/stages/filter/axis_weights.hpp>

#include <vector>

namespace warpalign::cuda {

/// Numbers in device memory, there when the constructor returns.
class Constants {
 public:
  Constants(const CallSite& site, const void* values, std::size_t bytes);

  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return memory_.as<T>();
  }

 private:
  DeviceMemory memory_;
};

template <class T>
[[nodiscard]] Constants upload(const CallSite& site, const std::vector<T>& values) {
  return {site, values.data(), values.size() * sizeof(T)};
}

/// One axis as kernels take it: output i of n is the sum over k < taps of weights[k n + i] times
/// input first[i] + k.
struct Axis {
  const int* first;
  const float* weights;
  int taps;
  int n;
};

/// backend::AxisWeights on the device.
class AxisTable {
 public:
  AxisTable(const CallSite& site, const backend::AxisWeights& axis);
  [[nodiscard]] Axis axis() const noexcept;

 private:
  int taps_, n_;
  Constants first_, weights_;
};

}  // namespace warpalign::cuda

// The weights of separable stages, in device memory.
#pragma once

#include "device/memory.hpp"

#include <warpalign/backend/stages/filter/axis_weights.hpp>

#include <vector>

namespace warpalign::cuda {

/// Constant numbers in device memory; the upload is complete when the constructor returns.
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

/// The weights of one axis in the form that kernels take: output i of n is the sum over k < taps of
/// weights[k n + i] times input first[i] + k.
struct Axis {
  const int* first;
  const float* weights;
  int taps;
  int n;
};

/// backend::AxisWeights in device memory.
class AxisTable {
 public:
  AxisTable(const CallSite& site, const backend::AxisWeights& axis);
  [[nodiscard]] Axis axis() const noexcept;

 private:
  int taps_, n_;
  Constants first_, weights_;
};

}  // namespace warpalign::cuda

// Weights of separable filters.
#pragma once

#include <cstdint>
#include <vector>

namespace warpalign::backend {

/// One axis of a separable weighting: for n outputs, output i is the sum over k of weights[k n + i]
/// times input first[i] + k. All these inputs exist; the weights of an output sum to 1.
struct AxisWeights {
  int taps = 0;
  std::vector<std::int32_t> first;
  std::vector<float> weights;
};

struct PlaneWeights {
  AxisWeights x, y;
};

}  // namespace warpalign::backend

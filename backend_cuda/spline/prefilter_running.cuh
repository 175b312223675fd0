// The truncated prefilter of 15 taps by running sums (formulas/running_sums.h), in the form that
// the streaming kernels take: a third of the operations of a convolution.
#pragma once

#include "spline/prefilter_recursion.cuh"

#include "formulas/running_sums.h"

#include <cmath>

namespace warpalign::cuda {

inline constexpr int running_taps = 15;
inline constexpr int running_length = (running_taps + 1) / 2;  // samples of the sum on either side

/// Powers of the pole, including the zeroth.
struct PolePowers {
  float z[running_length + 1];
};

[[nodiscard]] inline PolePowers pole_powers(double pole) {
  PolePowers powers{};
  for (int k = 0; k <= running_length; ++k) {
    powers.z[k] = static_cast<float>(std::pow(backend::kernel_pole(pole), k));
  }
  return powers;
}

// For each pixel of a lane, the sum over the pixels within its reach in the two lanes before it, or
// after it if `forward` is false.
template <bool forward>
__device__ __forceinline__ void reached_sums(const float (&v)[lane_pixels], const PolePowers& p,
                                             float (&reached)[lane_pixels]) {
  float sum[lane_pixels], part[3];
  wa_lane_sums(v[forward ? 0 : 3], v[forward ? 1 : 2], v[forward ? 2 : 1], v[forward ? 3 : 0], p.z,
               sum);
#pragma unroll
  for (int i = 0; i < 3; ++i) part[i] = from_neighbour<forward>(sum[i], 2);
  wa_reached_sums(from_neighbour<forward>(sum[3], 1), part, p.z, reached);
}

/// Like RecursiveColumn, but begins with zeros.
struct RunningColumn {
  static constexpr int chunk = running_length;
  float previous[chunk];  // the previous chunk
  float causal[chunk];    // the sums up to each of its samples

  __device__ __forceinline__ void advance(int, const PolePowers& p, const float (&samples)[chunk],
                                          float (&results)[chunk]) {
    wa_running_column(previous, causal, samples, p.z, results);
  }
};

struct RunningSums {
  static constexpr int chunk = RunningColumn::chunk;
  static constexpr int side = 8;
  static constexpr int blocks_per_multiprocessor = 8;
  static constexpr int axis_blocks_per_multiprocessor = 8;
  using Coefficients = PolePowers;
  using Column = RunningColumn;

  static __device__ __forceinline__ void filter_row(float (&v)[lane_pixels], const PolePowers& p) {
    float before[lane_pixels], after[lane_pixels];
    reached_sums<true>(v, p, before);
    reached_sums<false>(v, p, after);
    wa_running_row(v, before, after, p.z);
  }
};

}  // namespace warpalign::cuda

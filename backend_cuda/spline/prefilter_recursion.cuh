// The recursive prefilter of one line, in registers: across the lanes of a warp, and streaming down
// a column.
//
// Ruijters and Thevenaz' anticausal step c-[k] = z (c-[k + 1] - c+[k]) is run as
//   d[k] = c+[k] + z d[k + 1],
// which is the causal step run backwards, with c- = -z d. Together, the factor -z and the gain
// (1 - z)(1 - 1/z) make (1 - z)^2, which is applied once for all axes when results are stored. The
// filters of all poles commute, so both causal runs come first, then both anticausal ones.
//
// A run starts a halo before the first result, from the state that a constant signal would have
// left; |z|^halo makes the error of that start negligible.
#pragma once

#include "device/launch.hpp"

#include "formulas/bspline.h"

#include <warpalign/backend/prefilter_recursion.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace warpalign::cuda {

struct Pole {
  float z;
  float start;                // 1 / (1 - z): the sum of z^i
  float z2, z3, z4, z8, z16;  // powers
};

struct Recursion {
  Pole pole[2];
};

[[nodiscard]] inline Recursion recursion_of(const std::vector<double>& poles) {
  Recursion recursion{};
  for (std::size_t i = 0; i < poles.size() && i < 2; ++i) {
    const double z = backend::kernel_pole(poles[i]);
    const auto power = [z](int n) { return static_cast<float>(std::pow(z, n)); };
    recursion.pole[i] = {
        power(1), static_cast<float>(1 / (1 - z)), power(2), power(3), power(4), power(8),
        power(16)};
  }
  return recursion;
}

inline constexpr unsigned whole_warp = 0xffffffffU;
inline constexpr int lane_pixels = 4;  // consecutive pixels of a row that a lane holds
inline constexpr int row_pixels = lane_pixels * warp_lanes;

template <bool forward>
__device__ __forceinline__ float from_neighbour(float value, int lanes) {
  return forward ? __shfl_up_sync(whole_warp, value, static_cast<unsigned>(lanes))
                 : __shfl_down_sync(whole_warp, value, static_cast<unsigned>(lanes));
}

// One run over a row of 128 pixels, four per lane, along the row or backwards. Each lane first runs
// over its own four pixels. The contribution of the lanes before it decays by z^4 per lane and is
// gathered in `steps` doubling steps, from 2^steps lanes: z^(4 2^steps) is far below single
// precision.
template <bool forward, int steps>
__device__ __forceinline__ void run_along_row(float (&v)[lane_pixels], const Pole& p) {
  constexpr int i0 = forward ? 0 : 3;
  constexpr int i1 = forward ? 1 : 2;
  constexpr int i2 = forward ? 2 : 1;
  constexpr int i3 = forward ? 3 : 0;
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  const int order = forward ? lane : warp_lanes - 1 - lane;
  if (order == 0) v[i0] *= p.start;
  v[i1] = wa_prefilter_causal(v[i1], p.z, v[i0]);
  v[i2] = wa_prefilter_causal(v[i2], p.z, v[i1]);
  v[i3] = wa_prefilter_causal(v[i3], p.z, v[i2]);
  float carry = v[i3];
  const float decay[3] = {p.z4, p.z8, p.z16};
#pragma unroll
  for (int s = 0; s < steps; ++s) {
    const float earlier = from_neighbour<forward>(carry, 1 << s);
    if (order >= 1 << s) carry = fmaf(decay[s], earlier, carry);
  }
  float before = from_neighbour<forward>(carry, 1);
  if (order == 0) before = 0.0f;
  v[i0] = fmaf(p.z, before, v[i0]);
  v[i1] = fmaf(p.z2, before, v[i1]);
  v[i2] = fmaf(p.z3, before, v[i2]);
  v[i3] = fmaf(p.z4, before, v[i3]);
}

// All runs over a row. The numbers of doubling steps: z^16 = 7e-10 for one pole (degrees 2 and 3);
// for two poles (degrees 4 and 5), z^32 <= 2e-12 for the pole of larger magnitude and z^8 <= 2e-11
// for the other.
template <int poles>
__device__ __forceinline__ void run_over_row(float (&v)[lane_pixels], const Recursion& r) {
  if constexpr (poles == 1) {
    run_along_row<true, 2>(v, r.pole[0]);
    run_along_row<false, 2>(v, r.pole[0]);
  } else {
    run_along_row<true, 3>(v, r.pole[0]);
    run_along_row<true, 1>(v, r.pole[1]);
    run_along_row<false, 3>(v, r.pole[0]);
    run_along_row<false, 1>(v, r.pole[1]);
  }
}

/// The state of the runs at one element of a column: one number per pole, each of which is the
/// input of the next pole's run.
template <int poles>
struct RunState {
  float value[poles];

  /// Starts the runs as if all earlier samples were equal to `sample`.
  __device__ __forceinline__ void start_steady(float sample, const Recursion& r) {
#pragma unroll
    for (int i = 0; i < poles; ++i) {
      sample *= r.pole[i].start;
      value[i] = sample;
    }
  }
  __device__ __forceinline__ float step(float sample, const Recursion& r) {
#pragma unroll
    for (int i = 0; i < poles; ++i) {
      value[i] = wa_prefilter_causal(sample, r.pole[i].z, value[i]);
      sample = value[i];
    }
    return sample;
  }
};

/// Streams a column: chunks of samples, none shorter than the halo, go in; the results of a chunk
/// come out after the next chunk, over which the anticausal run warms up. The first chunk only
/// warms up the causal run.
template <int chunk, int halo, int poles>
struct RecursiveColumn {
  RunState<poles> causal;
  float previous[chunk];  // causal results of the previous chunk

  /// Processes chunk number `index`. From number 2 on, `results` are those of the previous chunk.
  __device__ __forceinline__ void advance(int index, const Recursion& r, float (&samples)[chunk],
                                          float (&results)[chunk]) {
    if (index == 0) causal.start_steady(samples[0], r);
#pragma unroll
    for (int j = 0; j < chunk; ++j) samples[j] = causal.step(samples[j], r);
    RunState<poles> back;
    back.start_steady(samples[halo - 1], r);
#pragma unroll
    for (int j = halo - 2; j >= 0; --j) back.step(samples[j], r);
#pragma unroll
    for (int j = chunk - 1; j >= 0; --j) results[j] = back.step(previous[j], r);
#pragma unroll
    for (int j = 0; j < chunk; ++j) previous[j] = samples[j];
  }
};

/// The recursive filter in the form that the streaming kernels take. `side` columns beyond each end
/// of a block's row, and a chunk beyond each end of its column block, warm it up.
template <int chunk_length, int side_columns, int halo, int poles>
struct Recursive {
  static_assert(chunk_length >= halo && side_columns >= halo);
  static constexpr int chunk = chunk_length;
  static constexpr int side = side_columns;
  // Without launch bounds the compiler uses twice the registers that streaming needs (two chunks of
  // a column and the rows being loaded), which halves the number of resident blocks. With these
  // bounds no kernel spills.
  static constexpr int blocks_per_multiprocessor = chunk <= 12 ? 8 : (chunk <= 20 ? 5 : 4);
  static constexpr int axis_blocks_per_multiprocessor = chunk <= 12 ? 6 : 4;
  using Coefficients = Recursion;
  using Column = RecursiveColumn<chunk, halo, poles>;

  static __device__ __forceinline__ void filter_row(float (&v)[lane_pixels], const Recursion& r) {
    run_over_row<poles>(v, r);
  }
};

}  // namespace warpalign::cuda

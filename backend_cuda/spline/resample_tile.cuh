// Prefilter and evaluation in one kernel, for cubic splines in the plane under affine transforms: a
// block loads the samples that a tile of the output needs, filters them and evaluates the spline.
//
// A thread filters one column, or half of one, in registers, straight from global memory; warps
// filter the rows in shared memory, in place. Reads are cheapest if neighbouring threads stay near
// one row of the source: therefore the tile may be a parallelogram, and for steep transforms a warp
// runs down the output rather than along it.
#pragma once

#include "spline/fixed_point.cuh"
#include "spline/interpolate_shared.cuh"
#include "spline/prefilter_recursion.cuh"
#include "spline/resample_source.hpp"
#include "spline/tile_source.cuh"

namespace warpalign::cuda {

inline constexpr int resample_threads = 256;
inline constexpr int resample_pitch = resample_columns;  // a multiple of the number of banks
inline constexpr int staged_pitch = resample_tile + 1;

template <int rows>
inline constexpr int kept_rows = rows - 2 * resample_halo;

template <int rows, bool steep>
inline constexpr std::size_t resample_bytes = sizeof(float) *
                                              (kept_rows<rows> * resample_pitch +
                                               (steep ? resample_tile * staged_pitch : 0));

// Keeps the compiler from computing a value again wherever it is used.
__device__ __forceinline__ void keep(int& value) { asm volatile("" : "+r"(value)); }
__device__ __forceinline__ void keep(float& value) { asm volatile("" : "+f"(value)); }

/// The location of a block's tile.
struct ResampleLocation {
  int first[2];      // its first output pixel
  double origin[2];  // that pixel's point
  int corner[2];     // the first coefficient

  __device__ __forceinline__ ResampleLocation(const Evaluation& e, const ResampleSource& source) {
    first[0] = static_cast<int>(blockIdx.x) * resample_tile - source.before[0];
    first[1] = static_cast<int>(blockIdx.y) * resample_tile - source.before[1];
    keep(first[0]);
    keep(first[1]);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      origin[i] = product_with_row<2>(e.points.m + 4 * i, first[0], first[1], 0);
      corner[i] = __double2int_rd(origin[i] + source.minimum[i]) - 2;
    }
  }
};

/// The number of a thread's warp, in a form from which the compiler knows that all its lanes share
/// it.
__device__ __forceinline__ int warp_number() {
  return __shfl_sync(whole_warp, static_cast<int>(threadIdx.x) / warp_lanes, 0);
}

// Loads the samples of half a column, `rows` / 2 of them.
template <int rows>
__device__ __forceinline__ void load_half_column(const float* __restrict__ samples,
                                                 const Evaluation& e,
                                                 const ResampleLocation& location, int column,
                                                 bool lower, float (&v)[rows / 2]) {
  __shared__ int locations[rows];
  const int width = e.spline.samples[0], height = e.spline.samples[1];
  const int left = location.corner[0] - resample_first, top = location.corner[1] - resample_halo;
  const int begin = lower ? rows / 2 : 0;
  if (left >= 0 && left + resample_columns <= width && top >= 0 && top + rows <= height) {
    const float* from = samples + static_cast<long long>(top + begin) * width + left + column;
#pragma unroll
    for (int j = 0; j < rows / 2; ++j, from += width) v[j] = __ldg(from);
    return;
  }
  const int rule = e.spline.rules.extension;
  for (int k = static_cast<int>(threadIdx.x); k < rows; k += resample_threads) {
    locations[k] = wa_extend(rule, top + k, height);
  }
  const int x = wa_extend(rule, left + column, width);
  __syncthreads();
#pragma unroll
  for (int j = 0; j < rows / 2; ++j) {
    const int y = locations[begin + j];
    v[j] = e.spline.rules.cval;
    if (x >= 0 && y >= 0) v[j] = __ldg(samples + static_cast<long long>(y) * width + x);
  }
}

// Filters the columns and stores the rows between the halos to `coefficients`. The causal run of
// the upper half continues in the lower half, the anticausal run of the lower half in the upper.
template <int rows>
__device__ __forceinline__ void filter_columns(const float* __restrict__ samples,
                                               const Evaluation& e, const ResampleFilter& f,
                                               const ResampleLocation& location,
                                               float* coefficients) {
  constexpr int n = rows / 2;
  __shared__ float causal[resample_columns], anticausal[resample_columns];
  const int column = static_cast<int>(threadIdx.x) % resample_columns;
  const bool lower = warp_number() >= resample_columns / warp_lanes;
  float v[n];
  load_half_column<rows>(samples, e, location, column, lower, v);
  if (!lower) v[0] *= f.start;
#pragma unroll
  for (int j = 1; j < n; ++j) v[j] = wa_prefilter_causal(v[j], f.z, v[j - 1]);
  if (!lower) causal[column] = v[n - 1];
  __syncthreads();
  if (lower) {
    const float before = causal[column];
#pragma unroll
    for (int j = 0; j <= resample_halo; ++j) v[j] = fmaf(f.powers[j + 1], before, v[j]);
    float after = v[resample_halo];
#pragma unroll
    for (int j = resample_halo - 1; j >= 0; --j) after = wa_prefilter_causal(v[j], f.z, after);
    anticausal[column] = after;
  }
  __syncthreads();
  if (lower) {
    float after = v[n - 1] * f.start;
#pragma unroll
    for (int j = n - 2; j >= n - resample_halo; --j) after = wa_prefilter_causal(v[j], f.z, after);
    float* to = coefficients + (n - resample_halo) * resample_pitch + column;
#pragma unroll
    for (int j = n - resample_halo - 1; j >= 0; --j) {
      after = wa_prefilter_causal(v[j], f.z, after);
      to[j * resample_pitch] = after;
    }
  } else {
    float after = anticausal[column];
    float* to = coefficients - resample_halo * resample_pitch + column;
#pragma unroll
    for (int j = n - 1; j >= resample_halo; --j) {
      after = wa_prefilter_causal(v[j], f.z, after);
      to[j * resample_pitch] = after;
    }
  }
}

/// A lane's eight pixels of a row of 128: half a warp processes one row. Of any eight consecutive
/// lanes, four work on the upper of the warp's two rows, whose pixels begin four later, so that the
/// lanes' words of four pixels do not conflict in a bank. The last lane of the upper row reads
/// beyond its row, too far away to matter.
struct RowLane {
  static constexpr int pixels = 8;
  int before[2], after[2];              // the two nearest lanes before and after
  float from_before[2], from_after[2];  // factors of the state that those lanes leave
  float from_first, from_last;          // factors of the values beyond the row's ends
  int at;                               // the first pixel, from the start of the upper row
  bool low, high;                       // whether the first and the last four are kept

  __device__ __forceinline__ RowLane(const ResampleFilter& f, int columns) {
    const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
    const int row = (lane >> 2) & 1;
    const int slot = (lane & 3) | ((lane >> 1) & 12);
    const auto lane_at = [row](int p) {
      p = min(max(p, 0), 15);
      return (p & 3) | (row << 2) | ((p & 12) << 1);
    };
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      before[i] = lane_at(slot - 1 - i);
      after[i] = lane_at(slot + 1 + i);
      const float power = i == 0 ? 1.0f : f.powers[pixels];
      from_before[i] = slot > i ? power : 0.0f;
      from_after[i] = slot < 15 - i ? power : 0.0f;
      keep(before[i]);
      keep(after[i]);
      keep(from_before[i]);
      keep(from_after[i]);
    }
    from_first = slot == 0 ? f.start : 0.0f;
    from_last = slot == 15 ? f.start : 0.0f;
    keep(from_first);
    keep(from_last);
    const int own = pixels * slot + (row == 0 ? 4 : 0);
    low = own + 4 > resample_first && own < resample_first + columns;
    high = own + 8 > resample_first && own + 4 < resample_first + columns;
    at = row * resample_pitch + own;
  }

  // Both runs; z^(2 pixels) is far below single precision.
  __device__ __forceinline__ void filter(float (&v)[pixels], const ResampleFilter& f) const {
    const float first = v[0];
#pragma unroll
    for (int i = 1; i < pixels; ++i) v[i] = wa_prefilter_causal(v[i], f.z, v[i - 1]);
    const float left = fmaf(__shfl_sync(whole_warp, v[pixels - 1], before[1]), from_before[1],
                            fmaf(__shfl_sync(whole_warp, v[pixels - 1], before[0]), from_before[0],
                                 first * from_first));
#pragma unroll
    for (int i = 0; i < pixels; ++i) v[i] = fmaf(f.powers[i + 1], left, v[i]);
    const float last = v[pixels - 1];
#pragma unroll
    for (int i = pixels - 2; i >= 0; --i) v[i] = wa_prefilter_causal(v[i], f.z, v[i + 1]);
    const float right =
        fmaf(__shfl_sync(whole_warp, v[0], after[1]), from_after[1],
             fmaf(__shfl_sync(whole_warp, v[0], after[0]), from_after[0], last * from_last));
#pragma unroll
    for (int i = 0; i < pixels; ++i) v[i] = fmaf(f.powers[pixels - i], right, v[i]);
  }
};

template <int rows>
__device__ __forceinline__ void filter_rows(const ResampleFilter& f, int columns,
                                            float* coefficients) {
  constexpr int at_once = 2 * resample_threads / warp_lanes;
  static_assert(kept_rows<rows> % at_once == 0);
  const RowLane lane(f, columns);
  float* row = coefficients + 2 * warp_number() * resample_pitch + lane.at;
#pragma unroll
  for (int k = 0; k < kept_rows<rows> / at_once; ++k) {
    auto* words = reinterpret_cast<float4*>(row + k * at_once * resample_pitch);
    const float4 a = words[0], b = words[1];
    float v[RowLane::pixels] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    lane.filter(v, f);
    if (lane.low) words[0] = make_float4(v[0], v[1], v[2], v[3]);
    if (lane.high) words[1] = make_float4(v[4], v[5], v[6], v[7]);
  }
}

/// The points of a thread's pixels. In each step all threads together cover rows of the output or,
/// for steep transforms, columns.
template <bool steep>
struct ResampleWalk {
  static constexpr int step = resample_threads / resample_tile;
  static constexpr int count = resample_tile / step;
  int u, v;            // relative to the tile's first pixel
  long long point[2];  // relative to the first coefficient, in fixed point

  __device__ __forceinline__ ResampleWalk(const ResampleSource& source,
                                          const ResampleLocation& location) {
    const int side_by_side = static_cast<int>(threadIdx.x) % resample_tile;
    const int line = static_cast<int>(threadIdx.x) / resample_tile;
    const int sheared = line + source.shear * (side_by_side / shear_group);
    u = steep ? sheared : side_by_side;
    v = steep ? side_by_side : sheared;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const double from = location.origin[i] - static_cast<double>(location.corner[i]);
      point[i] = fixed_of(from) + u * source.along_x[i] + v * source.along_y[i];
    }
  }
  __device__ __forceinline__ void advance(const ResampleSource& source) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      point[i] += step * (steep ? source.along_x[i] : source.along_y[i]);
    }
    (steep ? u : v) += step;
  }
};

template <bool steep>
__device__ __forceinline__ bool has_value_here(const Evaluation& e,
                                               const ResampleLocation& location,
                                               const ResampleWalk<steep>& walk, int axis) {
  const auto exactly = [&] {
    return product_with_row<2>(e.points.m + 4 * axis, location.first[0] + walk.u,
                               location.first[1] + walk.v, 0);
  };
  const FixedParts at(walk.point[axis]);
  return has_value(e, axis, at.whole + location.corner[axis], at.fraction(), exactly);
}

// The filter's scale includes the factor of six of the weights along each axis.
__device__ __forceinline__ float sum_of_neighbours(unsigned address, float tx, float ty) {
  constexpr auto along = std::make_integer_sequence<int, 4>{};
  float wx[4], wy[4];
  wa_bspline_sixfold_weights_3(tx, wx);
  wa_bspline_sixfold_weights_3(ty, wy);
  return sum_tile_plane<3, resample_pitch>(wx, wy, address, along);
}

// Calls store(walk, result) for a thread's pixels. `careful`: some points may lie outside, where
// they may have no value, and some pixels of the tile may lie outside the output.
template <bool steep, bool careful, class Store>
__device__ __forceinline__ void evaluate_pixels(const Evaluation& e, const ResampleSource& source,
                                                const ResampleLocation& location, float scale,
                                                const float* coefficients, Store store) {
  constexpr unsigned behind = resample_pitch + 1 - resample_first;  // first neighbour of (0, 0)
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(coefficients)) - 4 * behind;
  ResampleWalk<steep> walk(source, location);
  const auto result_here = [&] {
    const FixedParts x(walk.point[0]), y(walk.point[1]);
    const unsigned address = base + y.whole * (4 * resample_pitch) + x.whole * 4;
    return scale * sum_of_neighbours(address, x.fraction(), y.fraction());
  };
  if constexpr (careful) {
    const bool rejects = e.spline.rules.points == PointRule::reject_outside;
#pragma unroll 1
    for (int k = 0; k < walk.count; ++k, walk.advance(source)) {
      const bool rejected = rejects && !(has_value_here(e, location, walk, 0) &&
                                         has_value_here(e, location, walk, 1));
      store(walk, rejected ? e.spline.rules.cval : result_here());
    }
  } else {
#pragma unroll 2
    for (int k = 0; k < walk.count; ++k, walk.advance(source)) store(walk, result_here());
  }
}

}  // namespace warpalign::cuda

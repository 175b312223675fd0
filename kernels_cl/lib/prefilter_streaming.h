// The prefilter for OpenCL kernels only: rows are filtered across neighbouring work-items, columns
// are streamed.
//
// A row has 128 pixels. 32 work-items, called lanes, share it, with four pixels each. A column is
// processed in chunks of samples, none shorter than the filter's support on either side. A chunk's
// results are complete after the next chunk; the first chunk only warms the filter up. A recursion
// starts from the state that a constant signal would have left, and forgets this start over a halo,
// to single precision.
// Options: EXTENSION (formulas/boundary.h); ROWS, the number of rows that a work-item filters at
// once; CHUNK, the number of samples of a column's chunk. For the recursive filter POLE_0, START_0
// (1 / (1 - POLE_0)) and HALO, with TWO_POLES also POLE_1 and START_1. For the convolution
// CONVOLUTION: up to 15 taps, of which b(0) ... b(7) are in `taps` (Champagnat and Le Sant,
// equation 12); with RUNNING_SUMS the 15 taps are powers of the cubic pole, and z ... z^8 are in
// `taps`.
#ifndef WARPALIGN_LIB_PREFILTER_STREAMING_H
#define WARPALIGN_LIB_PREFILTER_STREAMING_H

#include "formulas/boundary.h"
#include "formulas/bspline.h"
#include "formulas/running_sums.h"
#include "lib/launch.h"

// Whether the extended signal along an axis of n samples is constant.
#define IS_CONSTANT(n) ((n) == 1 && EXTENSION != WA_FILL)

#define ROW_LANES WA_STREAMING_ROW_LANES
#define LANE_PIXELS WA_STREAMING_LANE_PIXELS
#define ROW_PIXELS (ROW_LANES * LANE_PIXELS)
#define GROUP WA_STREAMING_GROUP
#define GROUP_ROWS (GROUP / ROW_LANES)

#ifndef CONVOLUTION

#ifdef TWO_POLES
#define POLES 2
#define MAX_LANES 8
#else
#define POLES 1
#define MAX_LANES 4
#endif

// The local memory in which the lanes of all rows of a group exchange one number each, alternately
// forwards and backwards.
#define EXCHANGE_ROW (ROW_LANES + 2 * MAX_LANES)
#define EXCHANGE_STEP (GROUP_ROWS * EXCHANGE_ROW)
#define EXCHANGE_SIZE (2 * ROWS * EXCHANGE_STEP)
typedef float Exchanged;

// Clears the entries beyond the lanes, which nothing is added to. A barrier must follow.
WA_INLINE void clear_exchange(local Exchanged* exchange) {
  for (int i = (int)get_local_id(0); i < EXCHANGE_SIZE; i += GROUP) exchange[i] = 0.0f;
}

// Replaces the last value of each lane's run by what reaches its first pixel: the sum of the last
// values of the `count` lanes before it, which decay by z^4 per lane. Every work-item of the group
// must call it.
WA_INLINE void gather_ends(float* ends, int direction, int count, float z4,
                           local Exchanged* exchange) {
  const int lane = (int)get_local_id(0) % ROW_LANES;
  local Exchanged* location = exchange + (direction > 0 ? 0 : ROWS * EXCHANGE_STEP) +
                              (int)get_local_id(0) / ROW_LANES * EXCHANGE_ROW + MAX_LANES + lane;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) location[r * EXCHANGE_STEP] = ends[r];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float sum = 0.0f;
#pragma unroll
    for (int lanes = count; lanes > 0; --lanes) {
      sum = fma(z4, sum, location[r * EXCHANGE_STEP - direction * lanes]);
    }
    ends[r] = sum;
  }
}

// Runs the recursion of one pole over rows, forwards or backwards.
WA_INLINE void run_over_rows(float4* rows, int direction, float z, float start, int count,
                             local Exchanged* exchange) {
  const int lane = (int)get_local_id(0) % ROW_LANES;
  const bool is_first = direction > 0 ? lane == 0 : lane == ROW_LANES - 1;
  const float z2 = z * z;
  float ends[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float4 v = direction > 0 ? rows[r] : rows[r].wzyx;
    if (is_first) v.x *= start;
    v.y = wa_prefilter_causal(v.y, z, v.x);
    v.z = wa_prefilter_causal(v.z, z, v.y);
    v.w = wa_prefilter_causal(v.w, z, v.z);
    ends[r] = v.w;
    rows[r] = v;
  }
  gather_ends(ends, direction, count, z2 * z2, exchange);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const float4 v = fma((float4)(z, z2, z2 * z, z2 * z2), (float4)(ends[r]), rows[r]);
    rows[r] = direction > 0 ? v : v.wzyx;
  }
}

// The result of the recursions for a constant 1.
#ifdef TWO_POLES
#define OF_CONSTANT (START_0 * START_0 * START_1 * START_1)
#else
#define OF_CONSTANT (START_0 * START_0)
#endif

// Filters rows. It considers as many lanes as contribute in single precision: z^16 = 7e-10 for one
// pole (degrees 2 and 3); for two poles (degrees 4 and 5), z^32 <= 2e-12 for the slower and z^8 <=
// 2e-11 for the other. `is_constant`, the same for the whole group, means that each row is
// constant. Such rows are only scaled, because the runs would round them in the same direction
// every time.
WA_INLINE void filter_rows(float4* rows, bool is_constant, float8 taps, local Exchanged* exchange) {
  if (is_constant) {
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) rows[r] *= OF_CONSTANT;
    return;
  }
#ifdef TWO_POLES
  run_over_rows(rows, 1, POLE_0, START_0, 8, exchange);
  run_over_rows(rows, -1, POLE_0, START_0, 8, exchange);
  run_over_rows(rows, 1, POLE_1, START_1, 2, exchange);
  run_over_rows(rows, -1, POLE_1, START_1, 2, exchange);
#else
  run_over_rows(rows, 1, POLE_0, START_0, 4, exchange);
  run_over_rows(rows, -1, POLE_0, START_0, 4, exchange);
#endif
}

typedef struct {
  float causal[POLES];    // each pole's state, which is the next pole's input
  float previous[CHUNK];  // causal results of the previous chunk
} Column;

// Starts a run as if all earlier samples were equal to `sample`.
WA_INLINE void start_steady(float* run, float sample) {
  run[0] = sample * START_0;
#ifdef TWO_POLES
  run[1] = run[0] * START_1;
#endif
}

WA_INLINE float step_run(float* run, float sample) {
  run[0] = wa_prefilter_causal(sample, POLE_0, run[0]);
#ifdef TWO_POLES
  run[1] = wa_prefilter_causal(run[0], POLE_1, run[1]);
#endif
  return run[POLES - 1];
}

WA_INLINE void start_column(Column* column) {
#pragma unroll
  for (int i = 0; i < POLES; ++i) column->causal[i] = 0.0f;
#pragma unroll
  for (int i = 0; i < CHUNK; ++i) column->previous[i] = 0.0f;
}

// Processes chunk number `index`. From number 2 on, `results` are those of the previous chunk.
WA_INLINE void advance(Column* column, int index, float8 taps, float* samples, float* results) {
  if (index == 0) start_steady(column->causal, samples[0]);
#pragma unroll
  for (int j = 0; j < CHUNK; ++j) samples[j] = step_run(column->causal, samples[j]);
  float back[POLES];
  start_steady(back, samples[HALO - 1]);
#pragma unroll
  for (int j = HALO - 2; j >= 0; --j) step_run(back, samples[j]);
#pragma unroll
  for (int j = CHUNK - 1; j >= 0; --j) results[j] = step_run(back, column->previous[j]);
#pragma unroll
  for (int j = 0; j < CHUNK; ++j) column->previous[j] = samples[j];
}

#elif defined(RUNNING_SUMS)

// Two entries on either side of a row's 32 lanes may be read; their values affect no result.
#define EXCHANGE_ROW (ROW_LANES + 4)
#define EXCHANGE_STEP (GROUP_ROWS * EXCHANGE_ROW)
#define EXCHANGE_SIZE (2 * ROWS * EXCHANGE_STEP)
typedef float4 Exchanged;

WA_INLINE void clear_exchange(local Exchanged* exchange) {
  for (int i = (int)get_local_id(0); i < EXCHANGE_SIZE; i += GROUP) exchange[i] = (float4)(0.0f);
}

WA_INLINE void powers_of(float8 taps, float* z) {
  const float powers[9] = {1.0f,    taps.s0, taps.s1, taps.s2, taps.s3,
                           taps.s4, taps.s5, taps.s6, taps.s7};
#pragma unroll
  for (int k = 0; k < 9; ++k) z[k] = powers[k];
}

WA_INLINE float4 lane_sums(float4 v, const float* z) {
  float sum[4];
  wa_lane_sums(v.x, v.y, v.z, v.w, z, sum);
  return (float4)(sum[0], sum[1], sum[2], sum[3]);
}

// The reached sums, from the sums of the next lane and of the one after it (in the direction away
// from this lane).
WA_INLINE void reached_sums(float4 next, float4 after_next, const float* z, float* reached) {
  const float part[3] = {after_next.x, after_next.y, after_next.z};
  wa_reached_sums(next.w, part, z, reached);
}

// Filters rows, constant or not. Every work-item of the group must call it, with another barrier
// before the next call.
WA_INLINE void filter_rows(float4* rows, bool is_constant, float8 taps, local Exchanged* exchange) {
  local Exchanged* left = exchange + (int)get_local_id(0) / ROW_LANES * EXCHANGE_ROW + 2 +
                          (int)get_local_id(0) % ROW_LANES;
  local Exchanged* right = left + ROWS * EXCHANGE_STEP;
  float z[9];
  powers_of(taps, z);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    left[r * EXCHANGE_STEP] = lane_sums(rows[r], z);
    right[r * EXCHANGE_STEP] = lane_sums(rows[r].wzyx, z);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int at = r * EXCHANGE_STEP;
    float before[4], after[4];
    float v[4] = {rows[r].x, rows[r].y, rows[r].z, rows[r].w};
    reached_sums(left[at - 1], left[at - 2], z, before);
    reached_sums(right[at + 1], right[at + 2], z, after);
    wa_running_row(v, before, after, z);
    rows[r] = (float4)(v[0], v[1], v[2], v[3]);
  }
}

typedef struct {
  float previous[CHUNK];  // the previous chunk
  float causal[CHUNK];    // the running sums up to each of its samples
} Column;

WA_INLINE void start_column(Column* column) {
#pragma unroll
  for (int i = 0; i < CHUNK; ++i) column->previous[i] = column->causal[i] = 0.0f;
}

WA_INLINE void advance(Column* column, int index, float8 taps, float* samples, float* results) {
  float z[9];
  powers_of(taps, z);
  wa_running_column(column->previous, column->causal, samples, z, results);
}

#else  // CONVOLUTION

#define REACH 7

// Two entries on either side of a row's 32 lanes may be read; their values affect no result.
#define EXCHANGE_ROW (ROW_LANES + 4)
#define EXCHANGE_STEP (GROUP_ROWS * EXCHANGE_ROW)
#define EXCHANGE_SIZE (ROWS * EXCHANGE_STEP)
typedef float4 Exchanged;

WA_INLINE void clear_exchange(local Exchanged* exchange) {
  for (int i = (int)get_local_id(0); i < EXCHANGE_SIZE; i += GROUP) exchange[i] = (float4)(0.0f);
}

// Convolves from the middle outwards; `window` points at the middle.
WA_INLINE float convolve(const float* window, float8 taps) {
  float sum = taps.s0 * window[0];
  sum = fma(taps.s1, window[-1] + window[1], sum);
  sum = fma(taps.s2, window[-2] + window[2], sum);
  sum = fma(taps.s3, window[-3] + window[3], sum);
  sum = fma(taps.s4, window[-4] + window[4], sum);
  sum = fma(taps.s5, window[-5] + window[5], sum);
  sum = fma(taps.s6, window[-6] + window[6], sum);
  return fma(taps.s7, window[-7] + window[7], sum);
}

// Collects the 20 pixels around a lane's four.
WA_INLINE void gather_window(float4 own, float* window, local const Exchanged* location) {
#pragma unroll
  for (int lanes = -2; lanes <= 2; ++lanes) {
    const float4 word = lanes == 0 ? own : location[lanes];
    window[4 * (lanes + 2)] = word.x;
    window[4 * (lanes + 2) + 1] = word.y;
    window[4 * (lanes + 2) + 2] = word.z;
    window[4 * (lanes + 2) + 3] = word.w;
  }
}

// Filters rows, constant or not. Every work-item of the group must call it, with another barrier
// before the next call.
WA_INLINE void filter_rows(float4* rows, bool is_constant, float8 taps, local Exchanged* exchange) {
  local Exchanged* location = exchange + (int)get_local_id(0) / ROW_LANES * EXCHANGE_ROW + 2 +
                              (int)get_local_id(0) % ROW_LANES;
#pragma unroll
  for (int r = 0; r < ROWS; ++r) location[r * EXCHANGE_STEP] = rows[r];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    float window[5 * LANE_PIXELS];
    gather_window(rows[r], window, location + r * EXCHANGE_STEP);
    rows[r] = (float4)(convolve(window + 8, taps), convolve(window + 9, taps),
                       convolve(window + 10, taps), convolve(window + 11, taps));
  }
}

typedef struct {
  float window[CHUNK + REACH];  // the last REACH samples before the previous chunk, and that chunk
} Column;

WA_INLINE void start_column(Column* column) {
#pragma unroll
  for (int i = 0; i < CHUNK + REACH; ++i) column->window[i] = 0.0f;
}

WA_INLINE void advance(Column* column, int index, float8 taps, float* samples, float* results) {
  float window[2 * CHUNK + REACH];
#pragma unroll
  for (int i = 0; i < CHUNK + REACH; ++i) window[i] = column->window[i];
#pragma unroll
  for (int i = 0; i < CHUNK; ++i) window[CHUNK + REACH + i] = samples[i];
#pragma unroll
  for (int j = 0; j < CHUNK; ++j) results[j] = convolve(window + REACH + j, taps);
#pragma unroll
  for (int i = 0; i < CHUNK + REACH; ++i) column->window[i] = window[CHUNK + i];
}

#endif  // CONVOLUTION

// Stores the first `count` of a chunk's results, `stride` apart.
WA_INLINE void store_column(global float* at, long stride, int count, float gain,
                            const float* results) {
  if (count >= CHUNK) {
#pragma unroll
    for (int j = 0; j < CHUNK; ++j, at += stride) *at = gain * results[j];
  } else {
#pragma unroll
    for (int j = 0; j < CHUNK; ++j, at += stride) {
      if (j < count) *at = gain * results[j];
    }
  }
}

#endif

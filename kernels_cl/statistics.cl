// Mean, extremes and number of non-finite pixels, in two stages of parallel reduction.
//
// Options: GROUP, the work-group's size, a power of two; PIXEL_U8, PIXEL_U16 or PIXEL_F32.
//
// The mean keeps two sums, so that it is right for every finite image: `large` collects values
// beyond 1e28 scaled by 2^-40 and cannot overflow, `ordinary` the others. Both are compensated
// (Kahan), so that the error does not grow with the number of pixels a work item adds.
#include "formulas/opencl_pixels.h"

#define LARGE 1e28f
#define SCALE_DOWN 0x1p-40f
#define SCALE_UP 0x1p40f

typedef struct {
  float ordinary;
  float large;
  float minimum;
  float maximum;
  uint nonfinite;
} Partial;

inline Partial merge(Partial a, Partial b) {
  Partial both;
  both.ordinary = a.ordinary + b.ordinary;
  both.large = a.large + b.large;
  both.minimum = fmin(a.minimum, b.minimum);
  both.maximum = fmax(a.maximum, b.maximum);
  both.nonfinite = a.nonfinite + b.nonfinite;
  return both;
}

inline Partial nothing(void) {
  Partial none = {0.0f, 0.0f, INFINITY, -INFINITY, 0u};
  return none;
}

// sum + value with the rounding error carried in *lost.
inline float add(float sum, float value, float* lost) {
  const float corrected = value - *lost;
  const float next = sum + corrected;
  *lost = (next - sum) - corrected;
  return next;
}

// A work item's share so far, and what its two sums have lost to rounding.
typedef struct {
  Partial partial;
  float lost_ordinary, lost_large;
} Running;

inline Running count_in(Running r, float value) {
  if (!isfinite(value)) {
    ++r.partial.nonfinite;
    return r;
  }
  if (fabs(value) < LARGE) {
    r.partial.ordinary = add(r.partial.ordinary, value, &r.lost_ordinary);
  } else {
    r.partial.large = add(r.partial.large, value * SCALE_DOWN, &r.lost_large);
  }
  r.partial.minimum = fmin(r.partial.minimum, value);
  r.partial.maximum = fmax(r.partial.maximum, value);
  return r;
}

// The group's merged partial, valid in work item 0. Every work item calls it.
inline Partial merge_group(Partial mine, local Partial* shared) {
  const int item = (int)get_local_id(0);
  shared[item] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
    if (item < half_group) shared[item] = merge(shared[item], shared[item + half_group]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return shared[0];
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void statistics_partial(
    global const Pixel* input, ulong pixels, global Partial* partials) {
  local Partial shared[GROUP];
  Running running = {nothing(), 0.0f, 0.0f};
#ifdef PIXEL_F32
  global const float4* words = (global const float4*)input;  // buffers begin at words
  const size_t whole = (size_t)(pixels / 4);
  for (size_t i = get_global_id(0); i < whole; i += get_global_size(0)) {
    const float4 four = words[i];
    running = count_in(running, four.x);
    running = count_in(running, four.y);
    running = count_in(running, four.z);
    running = count_in(running, four.w);
  }
  const size_t left = 4 * whole;
#else
  const size_t left = 0;
#endif
  for (size_t i = left + get_global_id(0); i < pixels; i += get_global_size(0)) {
    running = count_in(running, LOAD_PIXEL(input, i));
  }
  const Partial mine = merge_group(running.partial, shared);
  if (get_local_id(0) == 0) partials[get_group_id(0)] = mine;
}

// One work group. The record is {mean, minimum, maximum, nonfinite}.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void statistics_final(
    global const Partial* partials, uint count, ulong pixels, global uint* record) {
  local Partial shared[GROUP];
  Partial mine = nothing();
  for (uint i = (uint)get_local_id(0); i < count; i += GROUP) mine = merge(mine, partials[i]);
  mine = merge_group(mine, shared);
  if (get_local_id(0) != 0) return;
  const float finite = (float)(pixels - (ulong)mine.nonfinite);
  float mean = 0.0f;
  if (finite > 0.0f) {
    mean = fma(mine.large / finite, SCALE_UP, mine.ordinary / finite);
    mean = fmin(fmax(mean, mine.minimum), mine.maximum);  // rounding must not leave the range
  }
  record[0] = as_uint(mean);
  record[1] = as_uint(mine.minimum);
  record[2] = as_uint(mine.maximum);
  record[3] = mine.nonfinite;
}

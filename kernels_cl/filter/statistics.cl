// Mean, minimum, maximum and number of non-finite pixels of an image, a volume or an image's
// gradient, by a parallel reduction in two stages.
//
// Options: GROUP, the work-group's size, a power of two; PIXEL_U8, PIXEL_U16 or PIXEL_F32; for
// gradients, SIGNAL_GRADIENT and WHOLE_WORDS (lib/signal.h).
//
// The mean keeps two sums, so that it is right for every finite image: `large` collects values
// beyond 1e28 scaled by 2^-40 and cannot overflow, `ordinary` collects the others. Both sums are
// compensated (Kahan), so that the error does not grow with the number of pixels per work-item.
//
// variant: gpu -DGROUP=256 -DPIXEL_F32
// variant: gpu -DGROUP=256 -DPIXEL_F32 -DSIGNAL_GRADIENT -DWHOLE_WORDS
// variant: gpu -DGROUP=256 -DPIXEL_U8
// variant: gpu -DGROUP=256 -DPIXEL_U8 -DSIGNAL_GRADIENT -DWHOLE_WORDS
#include "lib/signal.h"

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

// Returns sum + value and carries the rounding error in *lost.
inline float4 add(float4 sum, float4 value, float4* lost) {
  const float4 corrected = value - *lost;
  const float4 next = sum + corrected;
  *lost = (next - sum) - corrected;
  return next;
}

// A work-item's statistics so far in four vector lanes, and the rounding errors of its sums.
typedef struct {
  float4 ordinary, large, lost_ordinary, lost_large, minimum, maximum;
  int4 nonfinite;
} Running;

inline Running nothing_yet(void) {
  Running none;
  none.ordinary = none.large = none.lost_ordinary = none.lost_large = (float4)(0.0f);
  none.minimum = (float4)(INFINITY);
  none.maximum = (float4)(-INFINITY);
  none.nonfinite = (int4)(0);
  return none;
}

// `here` is -1 in the lanes that hold a pixel and 0 in the others.
inline Running count_in(Running r, float4 value, int4 here) {
  const int4 finite = isfinite(value) & here;
  const float4 counted = select((float4)(0.0f), value, finite);
  const int4 is_large = isgreaterequal(fabs(counted), (float4)(LARGE));
  r.nonfinite -= here & ~finite;
  if (any(is_large)) {
    const float4 scaled = select((float4)(0.0f), counted * SCALE_DOWN, is_large);
    r.large = add(r.large, scaled, &r.lost_large);
  }
  const float4 ordinary = select(counted, (float4)(0.0f), is_large);
  r.ordinary = add(r.ordinary, ordinary, &r.lost_ordinary);
  r.minimum = fmin(r.minimum, select((float4)(INFINITY), value, finite));
  r.maximum = fmax(r.maximum, select((float4)(-INFINITY), value, finite));
  return r;
}

// Selects the first `count` of four lanes.
inline int4 first_lanes(int count) { return (int4)(0, 1, 2, 3) < (int4)(count); }

inline Partial lanes_together(Running r) {
  Partial partial;
  partial.ordinary = (r.ordinary.s0 + r.ordinary.s1) + (r.ordinary.s2 + r.ordinary.s3);
  partial.large = (r.large.s0 + r.large.s1) + (r.large.s2 + r.large.s3);
  partial.minimum = fmin(fmin(r.minimum.s0, r.minimum.s1), fmin(r.minimum.s2, r.minimum.s3));
  partial.maximum = fmax(fmax(r.maximum.s0, r.maximum.s1), fmax(r.maximum.s2, r.maximum.s3));
  partial.nonfinite = (uint)((r.nonfinite.s0 + r.nonfinite.s1) + (r.nonfinite.s2 + r.nonfinite.s3));
  return partial;
}

// Returns the group's merged partial statistics, valid in work-item 0. Every work-item must call
// it.
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

#if defined(SIGNAL_GRADIENT)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gradient_partial(
    global const Pixel* input, int width, int height, global Partial* partials) {
  local Partial shared[GROUP];
  Running running = nothing_yet();
  const uint across = ((uint)width + 3) / 4;
  const uint blocks = across * (((uint)height + 1) / 2);
  for (uint i = (uint)get_global_id(0); i < blocks; i += (uint)get_global_size(0)) {
    const int x = 4 * (int)(i % across);
    const int y = 2 * (int)(i / across);
    const Block block = signal_block(input, x, y, width, height);
    const int4 here = first_lanes(width - x);
    running = count_in(running, block.upper, here);
    if (y + 1 < height) running = count_in(running, block.lower, here);
  }
  const Partial mine = merge_group(lanes_together(running), shared);
  if (get_local_id(0) == 0) partials[get_group_id(0)] = mine;
}

#else

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void statistics_partial(
    global const Pixel* input, ulong pixels, global Partial* partials) {
  local Partial shared[GROUP];
  Running running = nothing_yet();
  const size_t whole = (size_t)(pixels / 4);
  for (size_t i = get_global_id(0); i < whole; i += get_global_size(0)) {
    running = count_in(running, LOAD_WORD(input + 4 * i), (int4)(-1));  // buffers begin at words
  }
  for (size_t i = 4 * whole + get_global_id(0); i < pixels; i += get_global_size(0)) {
    running = count_in(running, (float4)(LOAD_PIXEL(input, i)), first_lanes(1));
  }
  const Partial mine = merge_group(lanes_together(running), shared);
  if (get_local_id(0) == 0) partials[get_group_id(0)] = mine;
}

#endif

// Runs as one work-group. The record is {mean, minimum, maximum, nonfinite}.
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

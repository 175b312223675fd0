// The peaks of the scores of correlation surfaces, for CPUs: like overlap_peaks.cl, with vectors of
// sixteen pixels, most of which are rejected before their scores are computed.
//
// Option: OUTLINES (lib/overlap_limits.h).
//
// variant: cpu
// variant: cpu -DOUTLINES
#define WA_REAL float16
#include "lib/overlap_limits.h"
#include "lib/peaks.h"
#include "lib/simd.h"

// The scores of shifts at columns x of rows y; 0 for shifts beyond the limit.
WA_INLINE float16 scores_within(float16 surface, float16 pixels, float16 x, float16 y, int width,
                                int height, SurfaceLimits limits) {
  const float16 scores =
      wa_score_over(surface, pixels, 1.0f / (float)(width * height), limits.min_overlap);
  if (!(limits.reach2 > 0.0f)) return scores;
  const float16 dx = wa_shift_distance(x, limits.centre_x, (float)width);
  const float16 dy = wa_shift_distance(y, limits.centre_y, (float)height);
  return only(scores, (wa_shift_square(dx, dy) <= limits.reach2) &
                          (wa_band_distance(dx, dy, limits.first_x, limits.first_y) <= 1.0f) &
                          (wa_band_distance(dx, dy, limits.second_x, limits.second_y) <= 1.0f));
}

// The overlaps of `count` shifts from column x of row y on, in pixels.
WA_INLINE float16 pixels_from(Overlaps overlaps, int x, int y, int width, int count) {
#ifdef OUTLINES
  return outline_pixels(overlaps, convert_float16(NUMBERS + x), (float16)((float)y));
#else
  return load_some(overlaps.stored + y * width + x, count) * overlaps.normalization;
#endif
}

// The overlaps of the shifts around a pixel, in the order of neighbour(), in pixels.
WA_INLINE float16 pixels_about(Overlaps overlaps, int2 place, float16 x, float16 y, int width,
                               int height) {
#ifdef OUTLINES
  return outline_pixels(overlaps, x, y);
#else
  float16 pixels = 0.0f;
  for (int n = 0; n < 9; ++n) {
    const int2 at = neighbour(place, n, width, height);
    ((float*)&pixels)[n] = overlaps.stored[(size_t)at.y * (size_t)width + (size_t)at.x];
  }
  return pixels * overlaps.normalization;
#endif
}

// The best of each lane so far.
typedef struct {
  float16 values;
  uint16 blocks;  // first pixels of the vectors that the values come from, or NOWHERE
  float bound;    // wa_score_bound() of the best of all
} LaneBests;

WA_INLINE float largest_of_lanes(float16 v) {
  const float8 eight = fmax(v.lo, v.hi);
  const float4 four = fmax(eight.lo, eight.hi);
  const float2 two = fmax(four.lo, four.hi);
  return fmax(two.x, two.y);
}

// Compares with the best so far the first `count` of `scores`, which belong to the pixels from
// `block` on. If all pixels are -infinity, keeps the first of them too.
WA_INLINE void consider(LaneBests* best, float16 scores, int count, uint block, float min_overlap) {
  const int16 first = (scores == best->values) & (best->blocks == (uint16)(NOWHERE));
  const int16 larger = ((scores > best->values) | first) & (NUMBERS < count);
  best->values = select(best->values, scores, larger);
  best->blocks = select(best->blocks, (uint16)(block), larger);
  const float largest = largest_of_lanes(best->values);
  best->bound = wa_score_bound(largest * fabs(largest), min_overlap);
}

// Processes a row.
WA_INLINE void consider_row(LaneBests* best, global const float* surface, Overlaps overlaps, int y,
                            int width, int height, SurfaceLimits limits) {
  const float normalization = 1.0f / (float)(width * height);
  const uint row = (uint)(y * width);
#pragma unroll 1
  for (int x = 0; x < width; x += 16) {
    const int count = width - x;
    const float16 pixels = pixels_from(overlaps, x, y, width, count);
    const int16 few = pixels < limits.min_overlap;
    float16 scores = 0.0f;
    // Many shifts have too little overlap, and the root and the division dominate the cost.
    if (are_all(few)) {
      if (best->bound > 0.0f) continue;
    } else {
      const float16 here = load_some(surface + row + x, count);
      const int16 less = wa_signed_square(here * normalization) < best->bound * pixels;
      if (are_all(best->bound > 0.0f ? few | less : ~few & less)) continue;
      scores = scores_within(here, pixels, convert_float16(NUMBERS + x), (float16)((float)y), width,
                             height, limits);
    }
    consider(best, scores, count, row + (uint)x, limits.min_overlap);
  }
}

// Work-item x goes through `rows` rows of slice y, from row x * rows on.
SIMD_KERNEL overlap_peaks_partial(
    global const float* surfaces, OverlapSource source, int each, global const float* all_limits,
    int own_limits, int width, int height, int rows, global Best* partials) {
  const size_t slice = get_global_id(1);
  const size_t plane = (size_t)width * (size_t)height;
  surfaces += slice * plane;
  const SurfaceLimits limits = limits_of(all_limits, own_limits, slice);
  const Overlaps overlaps = overlaps_of(source, each, slice, width, height, limits);
  LaneBests best = {(float16)(-INFINITY), (uint16)(NOWHERE), -INFINITY};
  const int first = (int)get_global_id(0) * rows;
#pragma unroll 1
  for (int y = first; y < min(first + rows, height); ++y) {
    consider_row(&best, surfaces, overlaps, y, width, height, limits);
  }
  partials[slice * get_num_groups(0) + get_group_id(0)] = best_of_lanes(best.values, best.blocks);
}

// A work-item processes a slice. The neighbours are computed like the scores, as lanes of a vector.
SIMD_KERNEL overlap_peaks_final(
    global const float* surfaces, OverlapSource source, int each, global const float* all_limits,
    int own_limits, int width, int height, global const Best* partials, uint count,
    global uint* records) {
  const size_t slice = get_global_id(1);
  const size_t plane = (size_t)width * (size_t)height;
  surfaces += slice * plane;
  const SurfaceLimits limits = limits_of(all_limits, own_limits, slice);
  const Overlaps overlaps = overlaps_of(source, each, slice, width, height, limits);
  Best peak = nothing();
  for (uint i = 0; i < count; ++i) peak = better(peak, partials[slice * count + i]);
  const int2 place = position_of(peak, width);
  float16 surface = 0.0f, x = 0.0f, y = 0.0f;
  for (int n = 0; n < 9; ++n) {
    const int2 at = neighbour(place, n, width, height);
    ((float*)&surface)[n] = surfaces[(size_t)at.y * (size_t)width + (size_t)at.x];
    ((float*)&x)[n] = (float)at.x;
    ((float*)&y)[n] = (float)at.y;
  }
  const float16 pixels = pixels_about(overlaps, place, x, y, width, height);
  const float16 scores = scores_within(surface, pixels, x, y, width, height, limits);
  global uint* record = records + slice * 12;
  for (int n = 0; n < 9; ++n) record[3 + n] = as_uint(((const float*)&scores)[n]);
  write_peak(peak, place, record);
}

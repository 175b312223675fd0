// Linear interpolation of sixteen pixels of a row, for OpenCL kernels only; options as in
// spline/cpu/interpolate_cpu.cl.
//
// A pixel has only two neighbours in each row of coefficients. Vectors across the pixels, filled
// with these pairs, take fewer instructions than the vectors along the rows of lib/row_sums.h. The
// sums are the same, in the same order.
#ifndef WARPALIGN_LIB_ROW_PAIRS_H
#define WARPALIGN_LIB_ROW_PAIRS_H

#include "lib/row_points.h"

// The left and the right neighbours of sixteen pixels.
typedef struct {
  float16 left, right;
} Pairs;

WA_INLINE float16 eight_pairs(global const float* from, const int* at) {
  return (float16)(vload2(0, from + at[0]), vload2(0, from + at[1]), vload2(0, from + at[2]),
                   vload2(0, from + at[3]), vload2(0, from + at[4]), vload2(0, from + at[5]),
                   vload2(0, from + at[6]), vload2(0, from + at[7]));
}

WA_INLINE Pairs load_pairs(global const float* from, const int* at) {
  const float16 a = eight_pairs(from, at);
  const float16 b = eight_pairs(from, at + 8);
  const Pairs pairs = {(float16)(a.even, b.even), (float16)(a.odd, b.odd)};
  return pairs;
}

// The sum of two pairs with the weights 1 - t and t.
WA_INLINE Pairs between(Pairs first, Pairs second, float16 t) {
  const float16 w = 1.0f - t;
  const Pairs sum = {fma(t, second.left, w * first.left), fma(t, second.right, w * first.right)};
  return sum;
}

WA_INLINE float16 across_pairs(Pairs pairs, float16 t) {
  return fma(t, pairs.right, (1.0f - t) * pairs.left);
}

WA_INLINE Pairs pairs_of_plane(global const float* from, const int* at, size_t row, float16 y) {
  const Pairs first = load_pairs(from, at);
  if (DIMENSIONS < 2) return first;
  return between(first, load_pairs(from + row, at), y);
}

// The offsets of the first neighbours of the first `count` of sixteen points; the others get that
// of the first point.
WA_INLINE int16 pair_offsets(const Spline* spline, const Points16* points, int count) {
  const int16 offsets = first_offsets(spline, points);
  return select((int16)(offsets.s0), offsets, NUMBERS < count);
}

// The values at sixteen points, whose neighbours are all coefficients. `at` has the offsets of the
// first ones.
WA_INLINE float16 interpolate_pairs(const Spline* spline, const Points16* points, const int* at) {
  const size_t row = (size_t)spline->width;
  const size_t plane = row * (size_t)spline->height;
  global const float* from = (global const float*)spline->values;
  Pairs pairs = pairs_of_plane(from, at, row, points->y.t);
  if (DIMENSIONS >= 3) {
    pairs = between(pairs, pairs_of_plane(from + plane, at, row, points->y.t), points->z.t);
  }
  return across_pairs(pairs, points->x.t);
}

#if DIMENSIONS == 2
// The samples to which sixteen indices of an axis map by the boundary rule.
typedef struct {
  int16 at;     // 0 where none is found
  int16 found;  // otherwise the fill value applies
  int16 known;  // otherwise the index is more than a period away, and wa_extend() must map it
} Extended16;

WA_INLINE Extended16 extend16(int16 i, int n) {
  int16 at = i;
#if EXTENSION == WA_MIRROR
  at = select(at, -at, at < 0);
  at = select(at, (n - 1) - (at - (n - 1)), at >= n);
#elif EXTENSION == WA_REFLECT
  at = select(at, -1 - at, at < 0);
  at = select(at, (n - 1) - (at - n), at >= n);
#elif EXTENSION == WA_PERIODIC
  at = select(at, at + n, at < 0);
  at = select(at, at - n, at >= n);
#elif EXTENSION == WA_CLAMP
  at = clamp(at, 0, n - 1);
#endif
  const int16 exists = at >= 0 && at < n;
  const Extended16 extended = {at & exists, exists, EXTENSION == WA_FILL ? (int16)(-1) : exists};
  return extended;
}

WA_INLINE float16 samples_at(const Spline* spline, Extended16 x, Extended16 y) {
  const int16 offsets = y.at * spline->width + x.at;
  const float16 samples = gather((global const float*)spline->values, offsets);
  return select((float16)(spline->cval), samples, x.found & y.found);
}

// Finds the values at the wanted ones of sixteen points by the boundary rule. Returns false if a
// neighbour is more than a period away.
WA_INLINE bool interpolate_extended(const Spline* spline, const Points16* points, int16 wanted,
                                    float16* value) {
  const Extended16 left = extend16(points->x.first, spline->width);
  const Extended16 right = extend16(points->x.first + 1, spline->width);
  const Extended16 top = extend16(points->y.first, spline->height);
  const Extended16 bottom = extend16(points->y.first + 1, spline->height);
  if (!are_all((left.known & right.known & top.known & bottom.known) | ~wanted)) return false;
  const Pairs above = {samples_at(spline, left, top), samples_at(spline, right, top)};
  const Pairs below = {samples_at(spline, left, bottom), samples_at(spline, right, bottom)};
  *value = across_pairs(between(above, below, points->y.t), points->x.t);
  return true;
}
#endif

#endif

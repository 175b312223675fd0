// The points of sixteen neighbouring pixels of a row: their locations among the coefficients, and
// their treatment by the boundary rule. For OpenCL kernels only; options as in
// spline/cpu/interpolate_cpu.cl.
#ifndef WARPALIGN_LIB_ROW_POINTS_H
#define WARPALIGN_LIB_ROW_POINTS_H

#include "lib/launch.h"
#include "lib/simd.h"
#include "lib/spline_value.h"

#define FIXED_POINT WA_CPU_FRACTION_BITS

// The number of pixels that each step (weights, sums, values) processes before the next step
// begins. It is large enough that a step reads from memory what was written long before.
#define SEGMENT 64
#define CHUNKS (SEGMENT / 16)

#ifdef COMPLEX
#define COMPONENTS 2
#else
#define COMPONENTS 1
#endif

#if LOADED == 1
typedef float Loaded;
#define LOAD(p) (*(p))
#else
typedef JOIN(float, LOADED) Loaded;
#define LOAD(p) JOIN(vload, LOADED)(0, p)
#endif

// Sixteen points along one axis: their first neighbours, and the argument of WEIGHTS.
typedef struct {
  int16 first;
  float16 t;
} Along16;

// `at`: in fixed point, relative to the first coefficient (for even degrees, plus 1/2).
WA_INLINE Along16 along_fixed(long16 at) {
  Along16 along;
  along.first = convert_int16(at >> FIXED_POINT) - DEGREE / 2;
  along.t = convert_float16(convert_int16(at >> (FIXED_POINT - 31)) & 0x7fffffff) * 0x1p-31f;
#if DEGREE % 2 == 0
  along.t -= 0.5f;
#endif
  return along;
}

// `at`: relative to the first sample of an axis of n coefficients. Points far beyond the ends, or
// NaN, are moved to just beyond the ends and marked in `far`.
WA_INLINE Along16 along_float(float16 at, int n, int margin, int16* far) {
  const float16 near = fmin(fmax(at, -64.0f), (float)n + 64.0f);
  *far |= near != at;
  float16 below = floor(near);
  Along16 along;
  along.t = near - below;
#if DEGREE % 2 == 0
  const int16 above = along.t >= 0.5f;
  below = select(below, below + 1.0f, above);
  along.t = select(along.t, along.t - 1.0f, above);
#endif
  along.first = convert_int16(below) + (margin - DEGREE / 2);
  return along;
}

// The range of first neighbours from `first` to `last`, inclusive.
typedef struct {
  int first, last;
} Range;

WA_INLINE int16 is_within(int16 at, Range range) { return at >= range.first && at <= range.last; }

// The range of first neighbours for which a point certainly has a value and all its neighbours, on
// an axis of n coefficients of which `loaded` are loaded at once.
WA_INLINE Range range_inside(int n, int margin, int loaded) {
  Range range = {0, n - loaded};
#if defined(POINTS_REJECT) || defined(POINTS_WRAP)
  range.first = max(range.first, margin - DEGREE / 2 + 1);
  range.last = min(range.last, n - margin - DEGREE / 2 - 4);
#endif
  return range;
}

typedef struct {
  Range x, y, z;
} Inside;

WA_INLINE Inside inside_of(const Spline* spline) {
  Inside inside;
  inside.x = range_inside(spline->width, spline->margin, LOADED / COMPONENTS);
  inside.y = range_inside(spline->height, spline->margin, TAPS);
  inside.z = range_inside(spline->depth, spline->margin, TAPS);
  return inside;
}

typedef struct {
  Along16 x, y, z;
  int16 far;  // the location above is not valid; locate_point() must find it
} Points16;

// The offsets of the first neighbours among the coefficients, each of COMPONENTS floats.
WA_INLINE int16 first_offsets(const Spline* spline, const Points16* points) {
  int16 offsets = points->x.first;
  if (DIMENSIONS >= 2) offsets += points->y.first * spline->width;
  if (DIMENSIONS >= 3) offsets += points->z.first * (spline->width * spline->height);
  return offsets;
}

WA_INLINE int16 are_inside(const Inside* inside, const Points16* points) {
  int16 result = is_within(points->x.first, inside->x);
  if (DIMENSIONS >= 2) result &= is_within(points->y.first, inside->y);
  if (DIMENSIONS >= 3) result &= is_within(points->z.first, inside->z);
  return result;
}

// The treatment of a point on an axis by the boundary rule.
typedef struct {
  int16 exists;   // otherwise its value is cval
  int16 certain;  // otherwise rounding might matter, and locate_point() decides
} Existence;

// Classifies points on an axis of n coefficients. With POINTS_CLAMP it also moves them as locate()
// does.
WA_INLINE Existence existence_along(Along16* along, int n, int margin) {
  Existence existence = {(int16)(-1), (int16)(-1)};
#if defined(POINTS_REJECT) || defined(POINTS_WRAP)
  const float tolerance = 1e-3f;
  const int16 whole = along->first + (DEGREE / 2 - margin);
  const float16 below = convert_float16(whole) + along->t;
  const float16 above = convert_float16(whole - (n - 2 * margin - 1)) + along->t;
  existence.certain = below > tolerance && above < -tolerance;
#ifdef POINTS_REJECT
  existence.exists = below > -tolerance && above < tolerance;
#endif
#elif EXTENSION == WA_FILL
  existence.exists = along->first >= -DEGREE - 1 && along->first <= n;
  existence.certain = along->first > -DEGREE && along->first < n - 1;
#elif defined(POINTS_CLAMP)
  const int reach = margin > 0 ? 0 : TAPS;
  const int last = n - 1 + reach;
  const int16 whole = along->first + DEGREE / 2;
  const int16 before = whole < -reach || (whole == -reach && along->t < 0.0f);
  const int16 after = whole > last || (whole == last && along->t > 0.0f);
  along->first = clamp(whole, -reach, last) - DEGREE / 2;
  along->t = select(along->t, (float16)(0.0f), before | after);
#endif
  return existence;
}

WA_INLINE void check_axis(Along16* along, int n, int margin, Existence* existence) {
  const Existence more = existence_along(along, n, margin);
  existence->exists &= more.exists;
  existence->certain &= more.certain;
}

#endif

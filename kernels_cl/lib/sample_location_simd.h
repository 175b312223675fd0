// The locations in a moving image to which sixteen neighbouring pixels of a row map, and the
// image's cubic spline there, for OpenCL kernels on CPUs only, with float16 as WA_REAL.
//
// The locations of a segment of a row are found from that of its first pixel (formulas/affine.h)
// and a table of the steps to the pixels after it, which is the same in every row.
//
// Option: MASKED, where weights tell which pixels count.
#ifndef WARPALIGN_LIB_SAMPLE_LOCATION_SIMD_H
#define WARPALIGN_LIB_SAMPLE_LOCATION_SIMD_H

#include "formulas/affine.h"
#include "formulas/similarity.h"
#include "lib/launch.h"
#include "lib/quads.h"

#define SEGMENT WA_ROW_SEGMENT
#define CHUNKS (SEGMENT / 16)
// Coordinates and steps beyond this limit become FAR, which added to any other coordinate lies
// beyond all images.
#define NEAR 0x1p28f
#define FAR (1 << 29)

// A coordinate or a step: an integer and the fraction above it; FAR also if it is NaN.
typedef struct {
  int whole;
  float part;
} Coordinate;

// The coordinate of a pixel, from a row (a, b, c) of a matrix and the parts that float cannot hold.
WA_INLINE Coordinate coordinate_of(float4 row, float4 rest, float px, float py) {
  float low;
  const float high = wa_affine(row.x, rest.x, px, row.y, rest.y, py, row.z, rest.z, &low);
  Coordinate at = {FAR, 0.0f};
  if (fabs(high) < NEAR) at.part = wa_split(high, low, &at.whole);
  return at;
}

// The steps along one axis from the first pixel of a segment to each of its pixels.
typedef struct {
  int16 whole[CHUNKS];
  float16 part[CHUNKS];
} Steps;

WA_INLINE void find_steps(float4 row, float4 rest, Steps* steps) {
  row.z = 0.0f;
  rest.z = 0.0f;
  for (int i = 0; i < SEGMENT; ++i) {
    const Coordinate step = coordinate_of(row, rest, (float)i, 0.0f);
    ((int*)steps->whole)[i] = step.whole;
    ((float*)steps->part)[i] = step.part;
  }
}

WA_INLINE void step_on(Coordinate from, const Steps* steps, int chunk, int16* whole,
                       float16* part) {
  const float16 sum = steps->part[chunk] + from.part;
  const int16 carry = sum >= 1.0f;
  *whole = steps->whole[chunk] + from.whole - carry;
  *part = select(sum, sum - 1.0f, carry);
}

// The cells (x0, y0) of the spline and the fractions (a, b) within them.
typedef struct {
  int16 x0, y0;
  float16 a, b;
} Locations;

// The coefficients of a moving image; on either axis, cells from the first to the last, inclusive,
// are within it.
typedef struct {
  global const float* coefficients;
  int width, first, last_x, last_y;
} Moving;

// margin is at least 1.
WA_INLINE Moving moving_of(global const float* coefficients, int width, int height, int margin) {
  const Moving moving = {coefficients, width, margin, width - 2 - margin, height - 2 - margin};
  return moving;
}

WA_INLINE Locations locations_of(Coordinate from_x, Coordinate from_y, const Steps* steps_x,
                                 const Steps* steps_y, int chunk) {
  Locations locations;
  step_on(from_x, steps_x, chunk, &locations.x0, &locations.a);
  step_on(from_y, steps_y, chunk, &locations.y0, &locations.b);
  return locations;
}

WA_INLINE int16 are_within(const Moving* moving, const Locations* locations) {
  return locations->x0 >= moving->first && locations->x0 <= moving->last_x &&
         locations->y0 >= moving->first && locations->y0 <= moving->last_y;
}

// Which of the first `count` pixels count: those within the moving image and, with MASKED, by the
// weights of both images.
WA_INLINE int16 which_count(const Moving* moving, const Locations* locations, int count,
                            global const float* reference_weight,
                            global const float* moving_weight) {
  int16 counts = are_within(moving, locations) && NUMBERS < count;
#ifdef MASKED
  counts &= load_some(reference_weight, count) >= WA_MIN_WEIGHT;
  const int16 x = select(locations->x0, locations->x0 + 1, locations->a >= 0.5f);
  const int16 y = select(locations->y0, locations->y0 + 1, locations->b >= 0.5f);
  const int16 at = select((int16)(0), y * moving->width + x, counts);
  counts &= gather(moving_weight, at) >= WA_MIN_WEIGHT;
#endif
  return counts;
}

typedef struct {
  float16 value, slope_x, slope_y;
} Splines;

// The spline, and if wanted its slopes, at the locations that count; for the others, the results
// are those of some location that exists.
WA_INLINE Splines splines_at(const Moving* moving, const Locations* locations, int16 counts,
                             bool slopes) {
  float16 wx[4], wy[4], dy[4], sums[4], slopes_y[4];
  wa_bspline_weights_3(locations->a, wx);
  wa_bspline_weights_3(locations->b, wy);
  if (slopes) wa_bspline_derivatives_3(locations->b, dy);
  const int16 at =
      select((int16)(0), (locations->y0 - 1) * moving->width + (locations->x0 - 1), counts);
  global const float* row = moving->coefficients;
#pragma unroll
  for (int q = 0; q < 4; ++q) sums[q] = slopes_y[q] = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const float16 here = load_quad(row, (const int*)&at, q);
      sums[q] = fma(spread_quad(wy[j], q), here, sums[q]);
      if (slopes) slopes_y[q] = fma(spread_quad(dy[j], q), here, slopes_y[q]);
    }
    row += moving->width;
  }
  make_columns(sums);
  Splines splines;
  splines.value = wa_row_of_four(sums[0], sums[1], sums[2], sums[3], wx);
  if (!slopes) return splines;
  make_columns(slopes_y);
  splines.slope_y = wa_row_of_four(slopes_y[0], slopes_y[1], slopes_y[2], slopes_y[3], wx);
  wa_bspline_derivatives_3(locations->a, wx);
  splines.slope_x = wa_row_of_four(sums[0], sums[1], sums[2], sums[3], wx);
  return splines;
}

#endif

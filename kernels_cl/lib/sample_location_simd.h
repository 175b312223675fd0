// The locations in a moving image to which sixteen neighbouring pixels of a row map, and the
// image's cubic spline there, for OpenCL kernels on CPUs only, with float16 as WA_REAL.
//
// The locations of a segment of a row follow from that of its first pixel (formulas/affine.h) and a
// table of the steps to the pixels after it, which is the same in every row. For a homography the
// steps are computed for every sixteen pixels.
//
// Options: MASKED, if the images have weights; PROJECTIVE, if the matrix has a third row, by whose
// result the others are divided.
#ifndef WARPALIGN_LIB_SAMPLE_LOCATION_SIMD_H
#define WARPALIGN_LIB_SAMPLE_LOCATION_SIMD_H

#include "formulas/affine.h"
#include "formulas/similarity.h"
#include "lib/launch.h"
#include "lib/quads.h"

#define SEGMENT WA_ROW_SEGMENT
#define CHUNKS (SEGMENT / 16)
// Coordinates and steps beyond this limit become FAR. The sum of FAR and any other coordinate lies
// outside all images.
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

// A matrix's rows (a, b, c), and the parts that float cannot hold.
typedef struct {
  float4 x_row, x_rest, y_row, y_rest;
#ifdef PROJECTIVE
  float4 w_row, w_rest;
#else
  Steps steps_x, steps_y;
#endif
} Matrix;

#ifdef PROJECTIVE
// The pixel at which a segment begins.
typedef struct {
  float x, y;
} SegmentStart;

WA_INLINE Matrix matrix_of(float4 x_row, float4 x_rest, float4 y_row, float4 y_rest, float4 w_row,
                           float4 w_rest) {
  const Matrix matrix = {x_row, x_rest, y_row, y_rest, w_row, w_rest};
  return matrix;
}

WA_INLINE SegmentStart segment_start(const Matrix* matrix, int px, int py) {
  const SegmentStart start = {(float)px, (float)py};
  return start;
}

// One coordinate of sixteen pixels from (px, py) on. w + w_low is the divisor of the first, and
// `slope` is its increase per pixel. A pixel i after the first lies i (a - x slope) / (w + i slope)
// beyond the x of the first, which float holds well enough.
WA_INLINE void project(float4 row, float4 rest, float px, float py, float w, float w_low,
                       float slope, int16* whole, float16* part) {
  float low, rest_of_first;
  const float high = wa_affine(row.x, rest.x, px, row.y, rest.y, py, row.z, rest.z, &low);
  const float first = wa_divide(high, low, w, w_low, &rest_of_first);
  *whole = FAR;
  *part = 0.0f;
  if (!(fabs(first) < NEAR)) return;
  int whole_of_first;
  const float fraction = wa_split(first, rest_of_first, &whole_of_first);
  const float16 number = convert_float16(NUMBERS);
  const float16 step = number * fma(-first, slope, row.x) / fma(number, (float16)(slope), w);
  const float16 sum = clamp(step + fraction, -NEAR, NEAR);
  const float16 below = floor(sum);
  *whole = convert_int16(below) + whole_of_first;
  *part = sum - below;
}

WA_INLINE Locations locations_of(const Matrix* m, SegmentStart start, int chunk) {
  const float px = start.x + (float)(chunk * 16);
  float w_low;
  const float w = wa_affine(m->w_row.x, m->w_rest.x, px, m->w_row.y, m->w_rest.y, start.y,
                            m->w_row.z, m->w_rest.z, &w_low);
  Locations locations;
  project(m->x_row, m->x_rest, px, start.y, w, w_low, m->w_row.x, &locations.x0, &locations.a);
  project(m->y_row, m->y_rest, px, start.y, w, w_low, m->w_row.x, &locations.y0, &locations.b);
  return locations;
}
#else
// The location to which the first pixel of a segment maps.
typedef struct {
  Coordinate x, y;
} SegmentStart;

WA_INLINE Matrix matrix_of(float4 x_row, float4 x_rest, float4 y_row, float4 y_rest) {
  Matrix matrix = {x_row, x_rest, y_row, y_rest};
  find_steps(x_row, x_rest, &matrix.steps_x);
  find_steps(y_row, y_rest, &matrix.steps_y);
  return matrix;
}

WA_INLINE SegmentStart segment_start(const Matrix* matrix, int px, int py) {
  const SegmentStart start = {
      coordinate_of(matrix->x_row, matrix->x_rest, (float)px, (float)py),
      coordinate_of(matrix->y_row, matrix->y_rest, (float)px, (float)py)};
  return start;
}

WA_INLINE Locations locations_of(const Matrix* matrix, SegmentStart start, int chunk) {
  Locations locations;
  step_on(start.x, &matrix->steps_x, chunk, &locations.x0, &locations.a);
  step_on(start.y, &matrix->steps_y, chunk, &locations.y0, &locations.b);
  return locations;
}
#endif

// The coefficients of a moving image. On either axis, the cells from the first to the last,
// inclusive, are inside.
typedef struct {
  global const float* coefficients;
  int width, first, last_x, last_y;
} Moving;

// margin is at least 1.
WA_INLINE Moving moving_of(global const float* coefficients, int width, int height, int margin) {
  const Moving moving = {coefficients, width, margin, width - 2 - margin, height - 2 - margin};
  return moving;
}

WA_INLINE int16 are_within(const Moving* moving, const Locations* locations) {
  return locations->x0 >= moving->first && locations->x0 <= moving->last_x &&
         locations->y0 >= moving->first && locations->y0 <= moving->last_y;
}

// Which of the first `count` pixels are valid: those inside the moving image and, with MASKED,
// inside the weights of both images.
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

// The spline, and its slopes on request, at the valid locations. At the others, the results are
// those of some existing location.
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

// The location in a moving image to which a reference pixel maps, and the image's cubic spline
// there, for OpenCL kernels only.
//
// Option: PROJECTIVE, if the matrix has a third row, by whose result the others are divided.
#ifndef WARPALIGN_LIB_SAMPLE_LOCATION_H
#define WARPALIGN_LIB_SAMPLE_LOCATION_H

#include "formulas/affine.h"
#include "formulas/similarity.h"

// A matrix's rows (a, b, c), and the parts that float cannot hold.
typedef struct {
  float4 x_row, x_rest, y_row, y_rest;
#ifdef PROJECTIVE
  float4 w_row, w_rest;
#endif
} Matrix;

// The cell (x0, y0) of the spline, the fraction (a, b) within it, and the location (x, y) itself.
typedef struct {
  int x0, y0;
  float a, b, x, y;
} SampleLocation;

// Returns false if the location is closer than `margin` >= 1 to the centres of the edge pixels, or
// NaN.
inline bool sample_location(const Matrix* m, int px, int py, int width, int height, int margin,
                            SampleLocation* location) {
  float x_low, y_low;
  location->x = wa_affine(m->x_row.x, m->x_rest.x, (float)px, m->x_row.y, m->x_rest.y, (float)py,
                          m->x_row.z, m->x_rest.z, &x_low);
  location->y = wa_affine(m->y_row.x, m->y_rest.x, (float)px, m->y_row.y, m->y_rest.y, (float)py,
                          m->y_row.z, m->y_rest.z, &y_low);
#ifdef PROJECTIVE
  float w_low;
  const float w = wa_affine(m->w_row.x, m->w_rest.x, (float)px, m->w_row.y, m->w_rest.y, (float)py,
                            m->w_row.z, m->w_rest.z, &w_low);
  location->x = wa_divide(location->x, x_low, w, w_low, &x_low);
  location->y = wa_divide(location->y, y_low, w, w_low, &y_low);
#endif
  const float minimum = (float)margin;
  if (!(location->x >= minimum && location->x < (float)(width - 1 - margin) &&
        location->y >= minimum && location->y < (float)(height - 1 - margin))) {
    return false;
  }
  location->a = wa_split(location->x, x_low, &location->x0);
  location->b = wa_split(location->y, y_low, &location->y0);
  return location->x0 >= 1 && location->x0 <= width - 3 && location->y0 >= 1 &&
         location->y0 <= height - 3;
}

inline float spline_value(global const float* coefficients, int width,
                          const SampleLocation* location) {
  float wx[4], wy[4];
  wa_bspline_weights_3(location->a, wx);
  wa_bspline_weights_3(location->b, wy);
  float value = 0.0f;
  for (int j = 0; j < 4; ++j) {
    global const float* c = coefficients + (location->y0 - 1 + j) * width + (location->x0 - 1);
    value = fma(wy[j], wa_row_of_four(c[0], c[1], c[2], c[3], wx), value);
  }
  return value;
}

inline float spline_value_and_slopes(global const float* coefficients, int width,
                                     const SampleLocation* location, float* slope_x,
                                     float* slope_y) {
  float wx[4], dx[4], wy[4], dy[4];
  wa_bspline_weights_3(location->a, wx);
  wa_bspline_derivatives_3(location->a, dx);
  wa_bspline_weights_3(location->b, wy);
  wa_bspline_derivatives_3(location->b, dy);
  float value = 0.0f, along = 0.0f, down = 0.0f;
  for (int j = 0; j < 4; ++j) {
    global const float* c = coefficients + (location->y0 - 1 + j) * width + (location->x0 - 1);
    const float row = wa_row_of_four(c[0], c[1], c[2], c[3], wx);
    value = fma(wy[j], row, value);
    along = fma(wy[j], wa_row_of_four(c[0], c[1], c[2], c[3], dx), along);
    down = fma(dy[j], row, down);
  }
  *slope_x = along;
  *slope_y = down;
  return value;
}

// Whether the pixel of the moving image nearest to the location is valid.
inline bool location_counts(global const float* weight, int width, const SampleLocation* location) {
  const int x = location->x0 + (location->a >= 0.5f ? 1 : 0);
  const int y = location->y0 + (location->b >= 0.5f ? 1 : 0);
  return weight[y * width + x] >= WA_MIN_WEIGHT;
}

#endif

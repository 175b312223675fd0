// Where a reference pixel lands in a moving image and its cubic spline there, for OpenCL kernels
// alone.
#ifndef WARPALIGN_FORMULAS_OPENCL_SPLINE_PLACE_H
#define WARPALIGN_FORMULAS_OPENCL_SPLINE_PLACE_H

#include "formulas/affine.h"
#include "formulas/similarity.h"

// A matrix's rows (a, b, c), and what floats lose of them.
typedef struct {
  float4 x_row, x_rest, y_row, y_rest;
} Matrix;

// The cell (x0, y0) of the spline, the fraction (a, b) within it, and the place (x, y) itself.
typedef struct {
  int x0, y0;
  float a, b, x, y;
} SplinePlace;

// False where the place is nearer than `margin` >= 1 to the edge pixels' centres, or no number.
inline bool spline_place(const Matrix* m, int px, int py, int width, int height, int margin,
                         SplinePlace* place) {
  float x_low, y_low;
  place->x = wa_affine(m->x_row.x, m->x_rest.x, (float)px, m->x_row.y, m->x_rest.y, (float)py,
                       m->x_row.z, m->x_rest.z, &x_low);
  place->y = wa_affine(m->y_row.x, m->y_rest.x, (float)px, m->y_row.y, m->y_rest.y, (float)py,
                       m->y_row.z, m->y_rest.z, &y_low);
  const float least = (float)margin;
  if (!(place->x >= least && place->x < (float)(width - 1 - margin) && place->y >= least &&
        place->y < (float)(height - 1 - margin))) {
    return false;
  }
  place->a = wa_split(place->x, x_low, &place->x0);
  place->b = wa_split(place->y, y_low, &place->y0);
  return place->x0 >= 1 && place->x0 <= width - 3 && place->y0 >= 1 && place->y0 <= height - 3;
}

inline float spline_value(global const float* coefficients, int width, const SplinePlace* place) {
  float wx[4], wy[4];
  wa_bspline_weights_3(place->a, wx);
  wa_bspline_weights_3(place->b, wy);
  float value = 0.0f;
  for (int j = 0; j < 4; ++j) {
    global const float* c = coefficients + (place->y0 - 1 + j) * width + (place->x0 - 1);
    value = fma(wy[j], wa_row_of_four(c[0], c[1], c[2], c[3], wx), value);
  }
  return value;
}

inline float spline_value_and_slopes(global const float* coefficients, int width,
                                     const SplinePlace* place, float* slope_x, float* slope_y) {
  float wx[4], dx[4], wy[4], dy[4];
  wa_bspline_weights_3(place->a, wx);
  wa_bspline_derivatives_3(place->a, dx);
  wa_bspline_weights_3(place->b, wy);
  wa_bspline_derivatives_3(place->b, dy);
  float value = 0.0f, along = 0.0f, down = 0.0f;
  for (int j = 0; j < 4; ++j) {
    global const float* c = coefficients + (place->y0 - 1 + j) * width + (place->x0 - 1);
    const float row = wa_row_of_four(c[0], c[1], c[2], c[3], wx);
    value = fma(wy[j], row, value);
    along = fma(wy[j], wa_row_of_four(c[0], c[1], c[2], c[3], dx), along);
    down = fma(dy[j], row, down);
  }
  *slope_x = along;
  *slope_y = down;
  return value;
}

// Whether the pixel of the moving image nearest to the place counts.
inline bool place_counts(global const float* weight, int width, const SplinePlace* place) {
  const int x = place->x0 + (place->a >= 0.5f ? 1 : 0);
  const int y = place->y0 + (place->b >= 0.5f ? 1 : 0);
  return weight[y * width + x] >= WA_LEAST_WEIGHT;
}

#endif

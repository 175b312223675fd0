// Log-polar grids (as in equations 11 to 13 of the registration paper), and lookups in the
// half-plane magnitudes and images that they sample.
#ifndef WARPALIGN_FORMULAS_LOG_POLAR_H
#define WARPALIGN_FORMULAS_LOG_POLAR_H

#include "formulas/language.h"

// Returns floor(x), and stores it in *cell as an int. If x is an integer, the result may be one
// less, which makes no difference to an interpolation. |x| < 2^21. The code uses additions only,
// because floor() and conversions run at a fraction of their rate on GPUs: the last bits of 1.5 *
// 2^23 + n are n.
WA_INLINE float wa_cell_of(float x, int* cell) {
  const float shifted = (x - 0.5f) + 12582912.0f;
  *cell = (int)(WA_FLOAT_BITS(shifted) - 0x4b400000u);
  return shifted - 12582912.0f;
}

// Locates frequency (u, v), 0 <= u <= width / 2 and |v| <= height / 2, in a half-plane magnitude
// with `columns` columns whose row height / 2 is v = 0. Outputs the offsets of the left neighbours
// in the rows above and below, the distance from these to the right neighbours, and the fractions.
// Rows are periodic. Beyond the last column lies its mirror image, so the last column replaces it.
WA_INLINE void wa_half_plane_cell(float u, float v, int columns, int height, int* above, int* below,
                                  int* right, float* x, float* y) {
  int left, row;
  float corner = wa_cell_of(u, &left);
  if (left > columns - 2) {
    left = columns > 1 ? columns - 2 : 0;
    corner = (float)left;
  }
  *right = columns > 1 ? 1 : 0;
  *x = columns > 1 ? fmin(u - corner, 1.0f) : 0.0f;
  *y = v - wa_cell_of(v, &row);
  row += height / 2;
  row = row < 0 ? row + height : (row >= height ? row - height : row);
  *above = row * columns + left;
  *below = row + 1 == height ? left : *above + columns;
}

// A log-polar grid with any centre: exp(high + low), cos(high + low) and sin(high + low) for a
// small low. Accurate to a few units of single precision, so that points are accurate to about 3e-7
// of their radius.
WA_INLINE float wa_log_grid_radius(float high, float low) {
  const float radius = WA_EXP(high);
  return WA_FMA(radius, low, radius);
}

WA_INLINE void wa_log_grid_direction(float high, float low, float* cosine, float* sine) {
  const float c = WA_COS(high);
  const float s = WA_SIN(high);
  *cosine = WA_FMA(-s, low, c);
  *sine = WA_FMA(c, low, s);
}

#endif

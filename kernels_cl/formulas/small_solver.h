// The solution of the small symmetric linear systems of Gauss-Newton steps.
#ifndef WARPALIGN_FORMULAS_SMALL_SOLVER_H
#define WARPALIGN_FORMULAS_SMALL_SOLVER_H

#include "formulas/language.h"

#define WA_MAX_UNKNOWNS 12

// Computes the lower triangle L of a = L L^T in place, with the reciprocals of its diagonal in
// `inverse`. The diagonal of a must be 1. Returns 0 if a is not positive definite: if a pivot is
// not above min_pivot.
WA_INLINE int wa_decompose(WA_REAL* a, int n, WA_REAL min_pivot, WA_REAL* inverse) {
  WA_UNROLL
  for (int column = 0; column < n; ++column) {
    WA_UNROLL
    for (int k = 0; k < column; ++k) {
      WA_UNROLL
      for (int row = column; row < n; ++row) {
        a[row * n + column] -= a[row * n + k] * a[column * n + k];
      }
    }
    const WA_REAL pivot = a[column * n + column];
    if (!(pivot > min_pivot)) return 0;
    inverse[column] = 1.0f / WA_SQRT(pivot);
    WA_UNROLL
    for (int row = column; row < n; ++row) a[row * n + column] *= inverse[column];
  }
  return 1;
}

// Solves L L^T x = b in place.
WA_INLINE void wa_substitute(const WA_REAL* lower, const WA_REAL* inverse, int n, WA_REAL* x) {
  WA_UNROLL
  for (int row = 0; row < n; ++row) {
    WA_UNROLL
    for (int k = 0; k < row; ++k) x[row] -= lower[row * n + k] * x[k];
    x[row] *= inverse[row];
  }
  WA_UNROLL
  for (int row = n - 1; row >= 0; --row) {
    WA_UNROLL
    for (int k = row + 1; k < n; ++k) x[row] -= lower[k * n + row] * x[k];
    x[row] *= inverse[row];
  }
}

// Solves H x = b for a symmetric, positive definite H of n rows, and replaces b by x. Reads the
// lower triangle of H, scales it to a unit diagonal and overwrites it. Returns 0 if a pivot is not
// above min_pivot, that is, if H is not positive definite to working precision; b is then
// meaningless. In kernels n must be a constant.
WA_INLINE int wa_solve_symmetric(WA_REAL* h, WA_REAL* b, int n, WA_REAL min_pivot) {
  WA_REAL unit[WA_MAX_UNKNOWNS];
  WA_REAL inverse[WA_MAX_UNKNOWNS];
  WA_UNROLL
  for (int i = 0; i < n; ++i) {
    if (!(h[i * n + i] > 0.0f)) return 0;
    unit[i] = 1.0f / WA_SQRT(h[i * n + i]);
  }
  WA_UNROLL
  for (int row = 0; row < n; ++row) {
    WA_UNROLL
    for (int column = 0; column <= row; ++column) {
      h[row * n + column] = h[row * n + column] * unit[row] * unit[column];
    }
    b[row] *= unit[row];
  }
  if (!wa_decompose(h, n, min_pivot, inverse)) return 0;
  wa_substitute(h, inverse, n, b);
  WA_UNROLL
  for (int i = 0; i < n; ++i) {
    b[i] *= unit[i];
    if (!(b[i] - b[i] == 0.0f)) return 0;  // NaN or infinite
  }
  return 1;
}

#endif

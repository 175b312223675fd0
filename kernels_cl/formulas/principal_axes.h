// The principal axes of a symmetric matrix of three rows, in double precision, by Jacobi's method.
#ifndef WARPALIGN_FORMULAS_PRINCIPAL_AXES_H
#define WARPALIGN_FORMULAS_PRINCIPAL_AXES_H

#include "formulas/language.h"

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

// The tangent of the angle of the rotation that makes the element b of [[a, b], [b, c]] zero, at
// most 1 in magnitude.
WA_INLINE double wa_jacobi_tangent(double a, double b, double c) {
  const double ratio = (c - a) / (2.0 * b);
  const double size = ratio < 0.0 ? -ratio : ratio;
  const double root = sqrt(ratio * ratio + 1.0);
  return (ratio >= 0.0 ? 1.0 : -1.0) / (size + root);
}

// Rotates the rows and columns p and q of a matrix, of which r is the third, and two columns of the
// vectors.
#define WA_JACOBI_ROTATION(p, q, r)                                          \
  {                                                                          \
    const double b = m[3 * (p) + (q)];                                       \
    if (b > limit || b < -limit) {                                           \
      is_diagonal = 0;                                                       \
      const double t = wa_jacobi_tangent(m[4 * (p)], b, m[4 * (q)]);         \
      const double cosine = 1.0 / sqrt(t * t + 1.0), sine = t * cosine;      \
      m[4 * (p)] -= t * b;                                                   \
      m[4 * (q)] += t * b;                                                   \
      m[3 * (p) + (q)] = m[3 * (q) + (p)] = 0.0;                             \
      const double with_p = m[3 * (r) + (p)], with_q = m[3 * (r) + (q)];     \
      m[3 * (r) + (p)] = m[3 * (p) + (r)] = cosine * with_p - sine * with_q; \
      m[3 * (r) + (q)] = m[3 * (q) + (r)] = sine * with_p + cosine * with_q; \
      for (int k = 0; k < 3; ++k) {                                          \
        const double u = vectors[3 * k + (p)], v = vectors[3 * k + (q)];     \
        vectors[3 * k + (p)] = cosine * u - sine * v;                        \
        vectors[3 * k + (q)] = sine * u + cosine * v;                        \
      }                                                                      \
    }                                                                        \
  }

// Replaces m, nine numbers row by row, by a diagonal matrix of its eigenvalues, and sets the
// columns of `vectors` to the eigenvectors. Elements that are at most `negligible` times the trace
// count as 0: a diagonal matrix keeps its axes, and rounding errors do not choose those of equal
// eigenvalues.
WA_INLINE void wa_principal_axes(double negligible, double* m, double* vectors) {
  for (int k = 0; k < 9; ++k) vectors[k] = k % 4 == 0 ? 1.0 : 0.0;
  const double limit = negligible * (m[0] + m[4] + m[8]);
  for (int sweep = 0; sweep < 50; ++sweep) {
    int is_diagonal = 1;
    WA_JACOBI_ROTATION(0, 1, 2)
    WA_JACOBI_ROTATION(0, 2, 1)
    WA_JACOBI_ROTATION(1, 2, 0)
    if (is_diagonal != 0) return;
  }
}

#endif

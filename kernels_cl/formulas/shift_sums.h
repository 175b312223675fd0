// The terms that one pixel adds to the sums of a Gauss-Newton step for the shift of a window.
#ifndef WARPALIGN_FORMULAS_SHIFT_SUMS_H
#define WARPALIGN_FORMULAS_SHIFT_SUMS_H

#include "formulas/bspline.h"
#include "formulas/language.h"
#include "formulas/similarity.h"

// Equals warpalign::backend::shift_sum_count; the sums are in the order of warpalign::ShiftSums.
#define WA_SHIFT_SUMS 25

// The derivatives of the cubic weights (Ruijters et al., equations 2 and 3).
WA_INLINE void wa_cubic_slopes(float t, float* w) {
  const float s = 1.0f - t;
  w[0] = -0.5f * s * s;
  w[1] = t * WA_FMA(1.5f, t, -2.0f);
  w[3] = 0.5f * t * t;
  w[2] = -(w[0] + w[1]) - w[3];
}

// Adds one pixel: the frame's value m with its slopes, the reference's value r with its slopes, and
// the residual with its weight. counts is 1, or 0 for a pixel that adds nothing; everything else
// must then be 0, too.
WA_INLINE void wa_shift_add(WA_REAL m, WA_REAL mx, WA_REAL my, WA_REAL r, WA_REAL rx, WA_REAL ry,
                            WA_REAL residual, WA_REAL weight, WA_REAL counts, WA_REAL* sums) {
  const WA_REAL wr = weight * r;
  const WA_REAL wmx = weight * mx;
  const WA_REAL wmy = weight * my;
  const WA_REAL wrx = weight * rx;
  const WA_REAL wry = weight * ry;
  sums[0] += weight;
  sums[1] += wr;
  sums[2] = WA_FMA(weight, m, sums[2]);
  sums[3] = WA_FMA(wr, r, sums[3]);
  sums[4] = WA_FMA(weight * m, m, sums[4]);
  sums[5] = WA_FMA(wr, m, sums[5]);
  sums[6] += wrx;
  sums[7] += wry;
  sums[8] = WA_FMA(wrx, r, sums[8]);
  sums[9] = WA_FMA(wry, r, sums[9]);
  sums[10] += wmx;
  sums[11] += wmy;
  sums[12] = WA_FMA(wmx, r, sums[12]);
  sums[13] = WA_FMA(wmy, r, sums[13]);
  sums[14] = WA_FMA(wmx, m, sums[14]);
  sums[15] = WA_FMA(wmy, m, sums[15]);
  sums[16] = WA_FMA(wmx, rx, sums[16]);
  sums[17] = WA_FMA(wmx, ry, sums[17]);
  sums[18] = WA_FMA(wmy, rx, sums[18]);
  sums[19] = WA_FMA(wmy, ry, sums[19]);
  sums[20] = WA_FMA(wmx, mx, sums[20]);
  sums[21] = WA_FMA(wmx, my, sums[21]);
  sums[22] = WA_FMA(wmy, my, sums[22]);
  sums[23] += counts;
  sums[24] += WA_FABS(residual);
}

#endif

// The terms that one pixel adds to the sums of a Gauss-Newton step for the similarity of a frame.
#ifndef WARPALIGN_FORMULAS_FRAME_SUMS_H
#define WARPALIGN_FORMULAS_FRAME_SUMS_H

#include "formulas/language.h"
#include "formulas/similarity.h"

// Equals warpalign::backend::frame_sum_count; the sums are in the order of warpalign::FrameSums.
#define WA_FRAME_SUMS 45
// The words of warpalign::FrameState.
#define WA_FRAME_STATE_WORDS 20

// The derivatives of a value with respect to the parameters of a similarity; its slopes are (x, y)
// at (dx, dy) from the centre.
WA_INLINE void wa_similarity_slopes(WA_REAL x, WA_REAL y, WA_REAL dx, WA_REAL dy, WA_REAL* j) {
  j[0] = x;
  j[1] = y;
  j[2] = WA_FMA(x, dx, y * dy);
  j[3] = WA_FMA(x, dy, -y * dx);
}

// Adds one pixel: the frame's value m with the sum of its squared slopes, the reference's value r,
// the derivatives z of the frame and j of the reference, and the residual with its weight. counts
// is 1, or 0 for a pixel that adds nothing; everything else must then be 0, too.
WA_INLINE void wa_frame_add(WA_REAL m, WA_REAL slopes, const WA_REAL* z, WA_REAL r,
                            const WA_REAL* j, WA_REAL residual, WA_REAL weight, WA_REAL counts,
                            WA_REAL* sums) {
  const WA_REAL wr = weight * r;
  sums[0] += weight;
  sums[1] += wr;
  sums[2] = WA_FMA(weight, m, sums[2]);
  sums[3] = WA_FMA(wr, r, sums[3]);
  sums[4] = WA_FMA(weight * m, m, sums[4]);
  sums[5] = WA_FMA(wr, m, sums[5]);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const WA_REAL wz = weight * z[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) sums[6 + 4 * i + k] = WA_FMA(wz, j[k], sums[6 + 4 * i + k]);
    sums[22 + i] = WA_FMA(wz, r, sums[22 + i]);
    sums[26 + i] += wz;
    sums[30 + i] = WA_FMA(wz, m, sums[30 + i]);
    sums[34 + i] = WA_FMA(wr, j[i], sums[34 + i]);
    sums[38 + i] = WA_FMA(weight, j[i], sums[38 + i]);
  }
  sums[42] = WA_FMA(weight, slopes, sums[42]);
  sums[43] += counts;
  sums[44] += WA_FABS(residual);
}

#endif

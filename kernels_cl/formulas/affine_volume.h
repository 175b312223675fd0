// The terms that one voxel adds to the sums of a Gauss-Newton step for the affine transform between
// two volumes.
//
// The matrix of the normal equations has the form S (x) q q', with S from the gradients and q from
// the position. It therefore has 6 x 10 different entries, which serve every model that is a
// special case of the affine one.
#ifndef WARPALIGN_FORMULAS_AFFINE_VOLUME_H
#define WARPALIGN_FORMULAS_AFFINE_VOLUME_H

#include "formulas/language.h"

// Equals warpalign::backend::affine_volume_sum_count.
#define WA_AFFINE_VOLUME_SUMS 80

// The words of warpalign::AffineVolumeState.
#define WA_AFFINE_VOLUME_STATE_WORDS 16

// Adds the products of a gradient product with those of the position (x, y, z, 1).
WA_INLINE void wa_add_positions(WA_REAL gradients, const WA_REAL* q, WA_REAL* sums) {
  const WA_REAL x = gradients * q[0];
  const WA_REAL y = gradients * q[1];
  const WA_REAL z = gradients * q[2];
  sums[0] = WA_FMA(x, q[0], sums[0]);
  sums[1] = WA_FMA(x, q[1], sums[1]);
  sums[2] = WA_FMA(x, q[2], sums[2]);
  sums[3] += x;
  sums[4] = WA_FMA(y, q[1], sums[4]);
  sums[5] = WA_FMA(y, q[2], sums[5]);
  sums[6] += y;
  sums[7] = WA_FMA(z, q[2], sums[7]);
  sums[8] += z;
  sums[9] += gradients;
}

// a: the reference's gradient; b: the moving volume's, in the reference's coordinates.
WA_INLINE void wa_affine_volume_add(const WA_REAL* a, const WA_REAL* b, const WA_REAL* q,
                                    WA_REAL reference, WA_REAL value, WA_REAL residual,
                                    WA_REAL weight, WA_REAL valid, WA_REAL* sums) {
  const WA_REAL ax = weight * a[0];
  const WA_REAL ay = weight * a[1];
  const WA_REAL az = weight * a[2];
  wa_add_positions(ax * b[0], q, sums);
  wa_add_positions(0.5f * WA_FMA(ax, b[1], ay * b[0]), q, sums + 10);
  wa_add_positions(0.5f * WA_FMA(ax, b[2], az * b[0]), q, sums + 20);
  wa_add_positions(ay * b[1], q, sums + 30);
  wa_add_positions(0.5f * WA_FMA(ay, b[2], az * b[1]), q, sums + 40);
  wa_add_positions(az * b[2], q, sums + 50);
  for (int i = 0; i < 3; ++i) {
    const WA_REAL along = weight * a[i] * residual;
    sums[60 + 4 * i] = WA_FMA(along, q[0], sums[60 + 4 * i]);
    sums[61 + 4 * i] = WA_FMA(along, q[1], sums[61 + 4 * i]);
    sums[62 + 4 * i] = WA_FMA(along, q[2], sums[62 + 4 * i]);
    sums[63 + 4 * i] += along;
  }
  const WA_REAL r = weight * reference;
  const WA_REAL m = weight * value;
  sums[72] += weight;
  sums[73] += r;
  sums[74] += m;
  sums[75] = WA_FMA(r, reference, sums[75]);
  sums[76] = WA_FMA(m, value, sums[76]);
  sums[77] = WA_FMA(r, value, sums[77]);
  sums[78] += valid;
  sums[79] += WA_FABS(residual);
}

#endif

// A Gauss-Newton step on the parameters of a similarity, with Tukey's biweight: what one pixel
// adds.
#ifndef WARPALIGN_FORMULAS_SIMILARITY_H
#define WARPALIGN_FORMULAS_SIMILARITY_H

#include "formulas/bspline.h"
#include "formulas/language.h"

// In the order of warpalign::backend::similarity_sum_count: the upper triangle of a 4 x 4 matrix by
// rows, four products, and eight sums.
#define WA_SIMILARITY_SUMS 22

// Pixels whose weight is lower have something that does not count within reach of their smoothing.
#define WA_LEAST_WEIGHT 0.999f

// (1 - (e / scale)^2)^2 within the scale, 0 beyond; 1 where inverse_scale is 0.
WA_INLINE float wa_tukey_weight(float residual, float inverse_scale) {
  const float u = residual * inverse_scale;
  const float rest = 1.0f - u * u;
  return rest > 0.0f ? rest * rest : 0.0f;
}

// Adds one pixel: `value` and its slopes at q, q - centre = (dx, dy), `reference` compared with it.
WA_INLINE void wa_similarity_add(float value, float slope_x, float slope_y, float dx, float dy,
                                 float reference, float gain, float offset, float inverse_scale,
                                 float* sums) {
  float j[4];
  j[0] = slope_x;
  j[1] = slope_y;
  j[2] = WA_FMA(slope_x, dx, slope_y * dy);
  j[3] = WA_FMA(slope_x, dy, -slope_y * dx);
  const float residual = value - WA_FMA(gain, reference, offset);
  const float weight = wa_tukey_weight(residual, inverse_scale);
  int next = 0;
  for (int row = 0; row < 4; ++row) {
    const float weighted = weight * j[row];
    for (int column = row; column < 4; ++column) {
      sums[next] = WA_FMA(weighted, j[column], sums[next]);
      ++next;
    }
  }
  const float weighted_residual = weight * residual;
  for (int row = 0; row < 4; ++row) {
    sums[10 + row] = WA_FMA(weighted_residual, j[row], sums[10 + row]);
  }
  sums[14] += weight;
  sums[15] += 1.0f;
  sums[16] += WA_FABS(residual);
  sums[17] += reference;
  sums[18] += value;
  sums[19] = WA_FMA(reference, reference, sums[19]);
  sums[20] = WA_FMA(value, value, sums[20]);
  sums[21] = WA_FMA(reference, value, sums[21]);
}

// A row of four coefficients times the weights, and times their derivatives.
WA_INLINE float wa_row_of_four(float c0, float c1, float c2, float c3, const float* w) {
  return WA_FMA(w[3], c3, WA_FMA(w[2], c2, WA_FMA(w[1], c1, w[0] * c0)));
}

// Gain and offset from moments about (reference_mean, moving_mean): sums of weights, r, m, r r, r
// m.
WA_INLINE void wa_local_light(const float* moments, float gain, float strength,
                              float reference_mean, float moving_mean, float* local_gain,
                              float* local_offset) {
  if (!(moments[0] > 0.0f)) {
    *local_gain = gain;
    *local_offset = moving_mean - gain * reference_mean;
    return;
  }
  const float r = moments[1] / moments[0];
  const float m = moments[2] / moments[0];
  const float variance = moments[3] / moments[0] - r * r;
  const float covariance = moments[4] / moments[0] - r * m;
  const float fitted =
      WA_FMA(strength, gain, covariance) / ((variance > 0.0f ? variance : 0.0f) + strength);
  *local_gain = fitted;
  *local_offset = (m + moving_mean) - fitted * (r + reference_mean);
}

#endif

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

// Moments of a cell: of its pixels' 1, r, m, r r, r m. With what says how they change from cell to
// cell: of u, v, u u, u v, v v, r u, r v, m u, m v.
#define WA_LIGHT_MOMENTS 5
#define WA_LIGHT_SUMS 14

// Adds a cell that lies (u, v) cells from where the light is wanted.
WA_INLINE void wa_add_light_cell(const float* moments, float weight, float u, float v,
                                 float* sums) {
  for (int i = 0; i < WA_LIGHT_MOMENTS; ++i) sums[i] = WA_FMA(weight, moments[i], sums[i]);
  for (int i = 0; i < 2; ++i) {
    const float along = weight * (i == 0 ? u : v);
    sums[5 + i] = WA_FMA(along, moments[0], sums[5 + i]);
    sums[7 + i] = WA_FMA(along * u, moments[0], sums[7 + i]);
    sums[10 + i] = WA_FMA(along, moments[1], sums[10 + i]);
    sums[12 + i] = WA_FMA(along, moments[2], sums[12 + i]);
  }
  sums[9] = WA_FMA(weight * v * v, moments[0], sums[9]);
}

// The gain g and the offset o at (0, 0) of the least squares fit m = g r + o + p u + q v, where the
// gain leans towards `gain`; sums about (reference_mean, moving_mean). r and m are first freed of
// their own planes in u and v: what is left of their covariance is not the light's.
WA_INLINE void wa_local_light(const float* sums, float gain, float strength, float reference_mean,
                              float moving_mean, float* local_gain, float* local_offset) {
  if (!(sums[0] > 0.0f)) {
    *local_gain = gain;
    *local_offset = moving_mean - gain * reference_mean;
    return;
  }
  const float inverse = 1.0f / sums[0];
  const float r = sums[1] * inverse;
  const float m = sums[2] * inverse;
  const float u = sums[5] * inverse;
  const float v = sums[6] * inverse;
  // Pixels lie within half a cell of their cell's centre: a variance of 1/12.
  const float uu = WA_FMA(sums[7], inverse, WA_FMA(-u, u, 1.0f / 12.0f));
  const float uv = WA_FMA(sums[8], inverse, -u * v);
  const float vv = WA_FMA(sums[9], inverse, WA_FMA(-v, v, 1.0f / 12.0f));
  const float scale = 1.0f / WA_FMA(uu, vv, -uv * uv);
  const float ru = WA_FMA(sums[10], inverse, -r * u);
  const float rv = WA_FMA(sums[11], inverse, -r * v);
  const float mu = WA_FMA(sums[12], inverse, -m * u);
  const float mv = WA_FMA(sums[13], inverse, -m * v);
  const float r_across = WA_FMA(vv, ru, -uv * rv) * scale;
  const float r_down = WA_FMA(uu, rv, -uv * ru) * scale;
  const float m_across = WA_FMA(vv, mu, -uv * mv) * scale;
  const float m_down = WA_FMA(uu, mv, -uv * mu) * scale;
  const float variance = sums[3] * inverse - r * r - WA_FMA(r_across, ru, r_down * rv);
  const float covariance = sums[4] * inverse - r * m - WA_FMA(r_across, mu, r_down * mv);
  const float fitted =
      WA_FMA(strength, gain, covariance) / ((variance > 0.0f ? variance : 0.0f) + strength);
  const float r_here = r - WA_FMA(r_across, u, r_down * v);
  const float m_here = m - WA_FMA(m_across, u, m_down * v);
  *local_gain = fitted;
  *local_offset = (m_here + moving_mean) - fitted * (r_here + reference_mean);
}

#endif

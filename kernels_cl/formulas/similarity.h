// The terms that one pixel adds to the sums of a Gauss-Newton step for the parameters of a
// similarity or a homography, with Tukey's biweight, and to those for the fit of the illumination
// model.
#ifndef WARPALIGN_FORMULAS_SIMILARITY_H
#define WARPALIGN_FORMULAS_SIMILARITY_H

#include "formulas/bspline.h"
#include "formulas/language.h"

// Equals warpalign::backend::similarity_sum_count. The sums are, in this order, the upper triangle
// of a 4 x 4 matrix by rows, four products, and eight sums.
#define WA_SIMILARITY_SUMS 22
// For eight parameters; equals warpalign::backend::homography_sum_count.
#define WA_HOMOGRAPHY_SUMS 52

// A pixel counts if its weight is at least this. A lower weight means that the support of its
// smoothing contains masked pixels.
#define WA_MIN_WEIGHT 0.999f

// (1 - (e / scale)^2)^2 within the scale, 0 beyond it; 1 everywhere if inverse_scale is 0.
WA_INLINE WA_REAL wa_tukey_weight(WA_REAL residual, float inverse_scale) {
  const WA_REAL u = residual * inverse_scale;
  const WA_REAL rest = 1.0f - u * u;
  return rest > 0.0f ? rest * rest : WA_NUMBER(0.0f);
}

// Adds one pixel, whose `value` is compared with `reference`; j has the derivatives of the value
// with respect to the `parameters`, whose number must be a constant. counts is 1, or 0 for a pixel
// that adds nothing; its value, derivatives, reference and offset must then be 0, too.
WA_INLINE void wa_add_step(const WA_REAL* j, int parameters, WA_REAL value, WA_REAL reference,
                           WA_REAL gain, WA_REAL offset, float inverse_scale, WA_REAL counts,
                           WA_REAL* sums) {
  const WA_REAL residual = value - WA_FMA(gain, reference, offset);
  const WA_REAL weight = wa_tukey_weight(residual, inverse_scale) * counts;
  WA_UNROLL
  for (int row = 0; row < parameters; ++row) {
    const WA_REAL weighted = weight * j[row];
    const int diagonal = row * (2 * parameters - row + 1) / 2;
    WA_UNROLL
    for (int column = 0; column < parameters; ++column) {
      if (column < row) continue;
      const int next = diagonal + column - row;
      sums[next] = WA_FMA(weighted, j[column], sums[next]);
    }
  }
  const int products = parameters * (parameters + 1) / 2;
  const WA_REAL weighted_residual = weight * residual;
  WA_UNROLL
  for (int row = 0; row < parameters; ++row) {
    sums[products + row] = WA_FMA(weighted_residual, j[row], sums[products + row]);
  }
  const int next = products + parameters;
  sums[next] += weight;
  sums[next + 1] += counts;
  sums[next + 2] += WA_FABS(residual);
  sums[next + 3] += reference;
  sums[next + 4] += value;
  sums[next + 5] = WA_FMA(reference, reference, sums[next + 5]);
  sums[next + 6] = WA_FMA(value, value, sums[next + 6]);
  sums[next + 7] = WA_FMA(reference, value, sums[next + 7]);
}

// Adds one pixel to the sums for a similarity. The slopes are those of the value at q, with q -
// centre = (dx, dy).
WA_INLINE void wa_similarity_add(WA_REAL value, WA_REAL slope_x, WA_REAL slope_y, WA_REAL dx,
                                 WA_REAL dy, WA_REAL reference, WA_REAL gain, WA_REAL offset,
                                 float inverse_scale, WA_REAL counts, WA_REAL* sums) {
  WA_REAL j[4];
  j[0] = slope_x;
  j[1] = slope_y;
  j[2] = WA_FMA(slope_x, dx, slope_y * dy);
  j[3] = WA_FMA(slope_x, dy, -slope_y * dx);
  wa_add_step(j, 4, value, reference, gain, offset, inverse_scale, counts, sums);
}

// Adds one pixel to the sums for a homography, with (q - centre) / unit = (u, v).
WA_INLINE void wa_homography_add(WA_REAL value, WA_REAL slope_x, WA_REAL slope_y, WA_REAL u,
                                 WA_REAL v, WA_REAL reference, WA_REAL gain, WA_REAL offset,
                                 float inverse_scale, WA_REAL counts, WA_REAL* sums) {
  const WA_REAL towards_centre = -WA_FMA(slope_x, u, slope_y * v);
  WA_REAL j[8];
  j[0] = slope_x;
  j[1] = slope_y;
  j[2] = slope_x * u;
  j[3] = slope_x * v;
  j[4] = slope_y * u;
  j[5] = slope_y * v;
  j[6] = towards_centre * u;
  j[7] = towards_centre * v;
  wa_add_step(j, 8, value, reference, gain, offset, inverse_scale, counts, sums);
}

// The weighted sum of a row of four coefficients; with the derivatives of the weights, its
// derivative.
WA_INLINE WA_REAL wa_row_of_four(WA_REAL c0, WA_REAL c1, WA_REAL c2, WA_REAL c3, const WA_REAL* w) {
  return WA_FMA(w[3], c3, WA_FMA(w[2], c2, WA_FMA(w[1], c1, w[0] * c0)));
}

// Moments of a cell: the sums over its pixels of 1, r, m, r r and r m, with r of the reference and
// m of the moving image.
#define WA_ILLUMINATION_MOMENTS 5
// Sums over a row of cells: the moments, and the sums of u, u u, r u and m u, which describe how
// they change from cell to cell.
#define WA_ILLUMINATION_ROW_SUMS 9
// Sums over rows of cells: also of v, u v, v v, r v and m v.
#define WA_ILLUMINATION_SUMS 14

// Adds a pixel to a cell. counts is 1, or 0 for a pixel that adds nothing; its r and m must then be
// 0, too.
WA_INLINE void wa_add_illumination_pixel(WA_REAL r, WA_REAL m, WA_REAL counts, WA_REAL* moments) {
  moments[0] += counts;
  moments[1] += r;
  moments[2] += m;
  moments[3] = WA_FMA(r, r, moments[3]);
  moments[4] = WA_FMA(r, m, moments[4]);
}

// Adds a cell that lies u cells along the row from the location at which the illumination is
// estimated.
WA_INLINE void wa_add_illumination_cell(const WA_REAL* moments, float weight, float u,
                                        WA_REAL* row) {
  const WA_REAL along = WA_NUMBER(weight * u);
  for (int i = 0; i < WA_ILLUMINATION_MOMENTS; ++i) {
    row[i] = WA_FMA(WA_NUMBER(weight), moments[i], row[i]);
  }
  row[5] = WA_FMA(along, moments[0], row[5]);
  row[6] = WA_FMA(along * u, moments[0], row[6]);
  row[7] = WA_FMA(along, moments[1], row[7]);
  row[8] = WA_FMA(along, moments[2], row[8]);
}

// Adds a row of cells that lies v cells below that location.
WA_INLINE void wa_add_illumination_row(const WA_REAL* row, float weight, float v, WA_REAL* sums) {
  const WA_REAL down = WA_NUMBER(weight * v);
  for (int i = 0; i < WA_ILLUMINATION_ROW_SUMS; ++i) {
    sums[i] = WA_FMA(WA_NUMBER(weight), row[i], sums[i]);
  }
  sums[9] = WA_FMA(down, row[0], sums[9]);
  sums[10] = WA_FMA(down, row[5], sums[10]);
  sums[11] = WA_FMA(down * v, row[0], sums[11]);
  sums[12] = WA_FMA(down, row[1], sums[12]);
  sums[13] = WA_FMA(down, row[2], sums[13]);
}

// The gain g and the offset o at (0, 0) of the least-squares fit m = g r + o + p u + q v,
// regularized towards the prior `gain` by `strength`. The sums are about (reference_mean,
// moving_mean). First, the least-squares planes in u and v are subtracted from r and m, so that the
// remaining covariance is not due to the illumination.
WA_INLINE void wa_local_illumination(const WA_REAL* sums, float gain, float strength,
                                     float reference_mean, float moving_mean, WA_REAL* local_gain,
                                     WA_REAL* local_offset) {
  const WA_REAL inverse = 1.0f / sums[0];
  const WA_REAL r = sums[1] * inverse;
  const WA_REAL m = sums[2] * inverse;
  const WA_REAL u = sums[5] * inverse;
  const WA_REAL v = sums[9] * inverse;
  // Pixels lie within half a cell of their cell's centre, which has a variance of 1/12.
  const WA_REAL uu = WA_FMA(sums[6], inverse, WA_FMA(-u, u, WA_NUMBER(1.0f / 12.0f)));
  const WA_REAL uv = WA_FMA(sums[10], inverse, -u * v);
  const WA_REAL vv = WA_FMA(sums[11], inverse, WA_FMA(-v, v, WA_NUMBER(1.0f / 12.0f)));
  const WA_REAL scale = 1.0f / WA_FMA(uu, vv, -uv * uv);
  const WA_REAL ru = WA_FMA(sums[7], inverse, -r * u);
  const WA_REAL rv = WA_FMA(sums[12], inverse, -r * v);
  const WA_REAL mu = WA_FMA(sums[8], inverse, -m * u);
  const WA_REAL mv = WA_FMA(sums[13], inverse, -m * v);
  const WA_REAL r_across = WA_FMA(vv, ru, -uv * rv) * scale;
  const WA_REAL r_down = WA_FMA(uu, rv, -uv * ru) * scale;
  const WA_REAL m_across = WA_FMA(vv, mu, -uv * mv) * scale;
  const WA_REAL m_down = WA_FMA(uu, mv, -uv * mu) * scale;
  const WA_REAL variance = sums[3] * inverse - r * r - WA_FMA(r_across, ru, r_down * rv);
  const WA_REAL covariance = sums[4] * inverse - r * m - WA_FMA(r_across, mu, r_down * mv);
  const WA_REAL fitted = WA_FMA(WA_NUMBER(strength), WA_NUMBER(gain), covariance) /
                         ((variance > 0.0f ? variance : WA_NUMBER(0.0f)) + strength);
  const WA_REAL r_here = r - WA_FMA(r_across, u, r_down * v);
  const WA_REAL m_here = m - WA_FMA(m_across, u, m_down * v);
  const WA_REAL offset = (m_here + moving_mean) - fitted * (r_here + reference_mean);
  // Without any valid pixel, the prior applies.
  *local_gain = sums[0] > 0.0f ? fitted : WA_NUMBER(gain);
  *local_offset = sums[0] > 0.0f ? offset : WA_NUMBER(moving_mean - gain * reference_mean);
}

#endif

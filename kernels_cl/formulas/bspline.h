// B-spline weights of degrees 0 to 5, their derivatives, and the steps of the recursive prefilter.
//
// A point x has degree + 1 neighbours. For odd degrees, t = x - floor(x) in [0, 1], and the first
// neighbour is floor(x) - (degree - 1) / 2. For even degrees, t = x - floor(x + 1/2) in [-1/2,
// 1/2], and the first neighbour is floor(x + 1/2) - degree / 2. w[i] is the weight of neighbour i.
// Weights are polynomials in t or 1 - t that are evaluated without cancellation: the error stays
// below 1e-7. For odd degrees, one weight next to the point is 1 minus the others. Otherwise their
// rounding errors would add up to 4.5e-7 in three dimensions if neighbouring coefficients are
// similar.
#ifndef WARPALIGN_FORMULAS_BSPLINE_H
#define WARPALIGN_FORMULAS_BSPLINE_H

#include "formulas/language.h"

WA_INLINE void wa_bspline_weights_0(float t, float* w) {
  (void)t;
  w[0] = 1.0f;
}

WA_INLINE void wa_bspline_weights_1(float t, float* w) {
  w[0] = 1.0f - t;
  w[1] = t;
}

WA_INLINE void wa_bspline_weights_2(float t, float* w) {
  const float before = 0.5f - t;
  const float after = 0.5f + t;
  w[0] = 0.5f * before * before;
  w[1] = WA_FMA(-t, t, 0.75f);
  w[2] = 0.5f * after * after;
}

// Ruijters, ter Haar Romeny and Suetens, equations 2 and 3: the cubic basis.
WA_INLINE void wa_bspline_weights_3(WA_REAL t, WA_REAL* w) {
  const WA_REAL s = 1.0f - t;
  w[0] = (1.0f / 6.0f) * s * (s * s);
  w[1] = WA_FMA(t * t, WA_FMA(WA_NUMBER(0.5f), t, WA_NUMBER(-1.0f)), WA_NUMBER(2.0f / 3.0f));
  w[3] = (1.0f / 6.0f) * t * (t * t);
  w[2] = (1.0f - w[1]) - (w[0] + w[3]);
}

// Six times the cubic weights, each rounded separately, for sums whose scale includes the factor.
WA_INLINE void wa_bspline_sixfold_weights_3(float t, float* w) {
  const float s = 1.0f - t;
  w[0] = s * (s * s);
  w[1] = WA_FMA(t * t, WA_FMA(3.0f, t, -6.0f), 4.0f);
  w[2] = WA_FMA(s * s, WA_FMA(3.0f, s, -6.0f), 4.0f);
  w[3] = t * (t * t);
}

// beta_4 between 1/2 and 3/2 from the centre, at distance 1 + t.
WA_INLINE float wa_bspline_outer_4(float t) {
  return WA_FMA(
      t,
      WA_FMA(t, WA_FMA(t, WA_FMA(t, -16.0f / 96.0f, 16.0f / 96.0f), 24.0f / 96.0f), -44.0f / 96.0f),
      19.0f / 96.0f);
}

WA_INLINE void wa_bspline_weights_4(float t, float* w) {
  const float before = (0.5f - t) * (0.5f - t);
  const float after = (0.5f + t) * (0.5f + t);
  const float square = t * t;
  w[0] = (1.0f / 24.0f) * before * before;
  w[1] = wa_bspline_outer_4(t);
  w[2] = WA_FMA(square, WA_FMA(square, 0.25f, -0.625f), 115.0f / 192.0f);
  w[3] = wa_bspline_outer_4(-t);
  w[4] = (1.0f / 24.0f) * after * after;
}

// beta_5 between 1 and 2 from the centre, at distance 2 - t.
WA_INLINE float wa_bspline_outer_5(float t) {
  return WA_FMA(
      t,
      WA_FMA(t,
             WA_FMA(t, WA_FMA(t, WA_FMA(t, -5.0f / 120.0f, 5.0f / 120.0f), 10.0f / 120.0f),
                    10.0f / 120.0f),
             5.0f / 120.0f),
      1.0f / 120.0f);
}

// beta_5 within 1 of the centre, at distance t.
WA_INLINE float wa_bspline_middle_5(float t) {
  const float square = t * t;
  return WA_FMA(square, WA_FMA(square, WA_FMA(t, -1.0f / 12.0f, 0.25f), -0.5f), 66.0f / 120.0f);
}

WA_INLINE void wa_bspline_weights_5(float t, float* w) {
  const float s = 1.0f - t;
  w[0] = (1.0f / 120.0f) * (s * s) * (s * s) * s;
  w[1] = wa_bspline_outer_5(s);
  w[2] = wa_bspline_middle_5(t);
  w[4] = wa_bspline_outer_5(t);
  w[5] = (1.0f / 120.0f) * (t * t) * (t * t) * t;
  w[3] = (1.0f - w[2]) - ((w[1] + w[4]) + (w[0] + w[5]));
}

// The derivatives d w[i] / d x of the weights of the same neighbours.
WA_INLINE void wa_bspline_derivatives_0(float t, float* w) {
  (void)t;
  w[0] = 0.0f;
}

WA_INLINE void wa_bspline_derivatives_1(float t, float* w) {
  (void)t;
  w[0] = -1.0f;
  w[1] = 1.0f;
}

WA_INLINE void wa_bspline_derivatives_2(float t, float* w) {
  w[0] = t - 0.5f;
  w[1] = -2.0f * t;
  w[2] = t + 0.5f;
}

WA_INLINE void wa_bspline_derivatives_3(WA_REAL t, WA_REAL* w) {
  const WA_REAL s = 1.0f - t;
  w[0] = -0.5f * s * s;
  w[1] = t * WA_FMA(WA_NUMBER(1.5f), t, WA_NUMBER(-2.0f));
  w[2] = s * WA_FMA(WA_NUMBER(-1.5f), s, WA_NUMBER(2.0f));
  w[3] = 0.5f * t * t;
}

// Minus the derivative of wa_bspline_outer_4(t).
WA_INLINE float wa_bspline_slope_4(float t) {
  return WA_FMA(t, WA_FMA(t, WA_FMA(t, 16.0f / 24.0f, -12.0f / 24.0f), -12.0f / 24.0f),
                11.0f / 24.0f);
}

WA_INLINE void wa_bspline_derivatives_4(float t, float* w) {
  const float before = 0.5f - t;
  const float after = 0.5f + t;
  w[0] = (-1.0f / 6.0f) * before * before * before;
  w[1] = -wa_bspline_slope_4(t);
  w[2] = t * WA_FMA(t, t, -1.25f);
  w[3] = wa_bspline_slope_4(-t);
  w[4] = (1.0f / 6.0f) * after * after * after;
}

WA_INLINE float wa_bspline_outer_slope_5(float t) {
  return WA_FMA(
      t, WA_FMA(t, WA_FMA(t, WA_FMA(t, -5.0f / 24.0f, 4.0f / 24.0f), 6.0f / 24.0f), 4.0f / 24.0f),
      1.0f / 24.0f);
}

WA_INLINE float wa_bspline_middle_slope_5(float t) {
  return t * WA_FMA(t * t, WA_FMA(t, -5.0f / 12.0f, 1.0f), -1.0f);
}

WA_INLINE void wa_bspline_derivatives_5(float t, float* w) {
  const float s = 1.0f - t;
  w[0] = (-1.0f / 24.0f) * (s * s) * (s * s);
  w[1] = -wa_bspline_outer_slope_5(s);
  w[2] = wa_bspline_middle_slope_5(t);
  w[3] = -wa_bspline_middle_slope_5(s);
  w[4] = wa_bspline_outer_slope_5(t);
  w[5] = (1.0f / 24.0f) * (t * t) * (t * t);
}

// Ruijters et al., equation 5: the cubic spline by two linear lookups per axis. With i = floor(x),
// s(x) = g0 f(i + h0) + (1 - g0) f(i + h1), where f is the linear interpolation of the
// coefficients.
WA_INLINE WA_REAL wa_bspline_lookups_3(WA_REAL t, WA_REAL* h0, WA_REAL* h1) {
  WA_REAL w[4];
  wa_bspline_weights_3(t, w);
  const WA_REAL g0 = w[0] + w[1];
  *h0 = w[1] / g0 - 1.0f;
  *h1 = w[3] / (w[2] + w[3]) + 1.0f;
  return g0;
}

// One step of the recursive prefilter for a pole z (Unser 1999; Ruijters and Thevenaz, equations 8
// and 9). The forward recursion is c+[k] = s[k] + z c+[k - 1]. The backward recursion c-[k] = z
// (c-[k + 1] - c+[k]) equals -z d[k] with d[k] = c+[k] + z d[k + 1], which is the same step and
// rounds only once. Multiplied by the product of (1 - z)^2 over the poles, the gain of an axis, the
// d of the last pole are the coefficients.
WA_INLINE float wa_prefilter_causal(float sample, float z, float before) {
  return WA_FMA(z, before, sample);
}

// The state of the recursion after an infinitely long constant signal, from which a warm-up starts.
WA_INLINE float wa_prefilter_causal_start(float sample, float z) { return sample / (1.0f - z); }

#endif

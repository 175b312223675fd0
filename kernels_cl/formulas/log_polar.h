// Points of log-polar grids (as in equations 11 to 13 of the registration paper).
#ifndef WARPALIGN_FORMULAS_LOG_POLAR_H
#define WARPALIGN_FORMULAS_LOG_POLAR_H

#include "formulas/language.h"

// A log-polar grid anywhere: exp(high + low), cos(high + low) and sin(high + low) for a small low.
// Good to a few units of single precision, so that points are good to about 3e-7 of their radius.
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

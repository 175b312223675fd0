// The log-polar map of the registration paper, equations 11 to 13, on the half plane u >= 0.
#ifndef WARPALIGN_FORMULAS_LOG_POLAR_H
#define WARPALIGN_FORMULAS_LOG_POLAR_H

#include "formulas/language.h"

// b^i, in cycles per `size` pixels.
WA_INLINE float wa_log_polar_radius(int i, float log_base) { return WA_EXP((float)i * log_base); }

// The angle of row j in half turns, in [-1/2, 1/2): j angle_step / pi - 1/2.
WA_INLINE float wa_log_polar_half_turns(int j, float one_over_angles) {
  return WA_FMA((float)j, one_over_angles, -0.5f);
}

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

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

#endif

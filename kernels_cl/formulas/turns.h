// The angle of a vector, for the types that kernels compute with (WA_REAL).
#ifndef WARPALIGN_FORMULAS_TURNS_H
#define WARPALIGN_FORMULAS_TURNS_H

#include "formulas/language.h"

#define ONE_TURN 6.28318531f

// The angle of (x, y) in turns, in [0, 1), to 2e-6 (a minimax polynomial of the arc tangent).
WA_INLINE WA_REAL wa_turns(WA_REAL y, WA_REAL x) {
  const WA_REAL zero = WA_NUMBER(0.0f);
  const WA_REAL a = WA_FABS(x);
  const WA_REAL b = WA_FABS(y);
  const WA_REAL larger = a > b ? a : b;
  const WA_REAL smaller = a > b ? b : a;
  const WA_REAL t = smaller / (larger > 0.0f ? larger : WA_NUMBER(1.0f));
  const WA_REAL s = t * t;
  WA_REAL angle = WA_FMA(s, WA_NUMBER(-0.01172120f), WA_NUMBER(0.05265332f));
  angle = WA_FMA(s, angle, WA_NUMBER(-0.11643287f));
  angle = WA_FMA(s, angle, WA_NUMBER(0.19354346f));
  angle = WA_FMA(s, angle, WA_NUMBER(-0.33262347f));
  angle = WA_FMA(s, angle, WA_NUMBER(0.99997726f)) * t / ONE_TURN;
  angle = b > a ? 0.25f - angle : angle;
  angle = x < 0.0f ? 0.5f - angle : angle;
  angle = y < 0.0f ? 1.0f - angle : angle;
  return angle < 1.0f ? angle : zero;
}

#endif

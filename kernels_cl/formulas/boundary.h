// Boundary rules: the mapping of indices beyond the ends of an axis, and of coordinates whose
// integer part does not fit an int.
//
// The rules are numbered like warpalign::backend::Extension. An axis has n samples, 1 <= n <= 2^30
// + 1024; an index may be any int.
#ifndef WARPALIGN_FORMULAS_BOUNDARY_H
#define WARPALIGN_FORMULAS_BOUNDARY_H

#include "formulas/affine.h"
#include "formulas/language.h"

#define WA_MIRROR 0
#define WA_REFLECT 1
#define WA_PERIODIC 2
#define WA_CLAMP 3
#define WA_FILL 4

// d c b | a b c d | c b a, period 2 n - 2.
WA_INLINE int wa_extend_mirror(int i, int n) {
  if (i >= 0 && i < n) return i;
  if (n == 1) return 0;
  const unsigned int period = 2u * (unsigned int)n - 2u;
  const unsigned int distance = i < 0 ? 0u - (unsigned int)i : (unsigned int)i;
  const unsigned int at = distance < period ? distance : distance % period;
  return (int)(at < (unsigned int)n ? at : period - at);
}

// c b a | a b c d | d c b, period 2 n.
WA_INLINE int wa_extend_reflect(int i, int n) {
  if (i >= 0 && i < n) return i;
  const unsigned int period = 2u * (unsigned int)n;
  const unsigned int distance = (unsigned int)(i < 0 ? -1 - i : i);
  const unsigned int at = distance < period ? distance : distance % period;
  return (int)(at < (unsigned int)n ? at : period - 1u - at);
}

// b c d | a b c d | a b c, period n.
WA_INLINE int wa_extend_periodic(int i, int n) {
  if (i >= 0 && i < n) return i;
  const int at = i % n;
  return at < 0 ? at + n : at;
}

// a a a | a b c d | d d d.
WA_INLINE int wa_extend_clamp(int i, int n) { return i < 0 ? 0 : (i < n ? i : n - 1); }

// The sample to which index i of an axis of n samples maps; -1 if there is none and the fill value
// applies.
WA_INLINE int wa_extend(int rule, int i, int n) {
  switch (rule) {
    case WA_MIRROR:
      return wa_extend_mirror(i, n);
    case WA_REFLECT:
      return wa_extend_reflect(i, n);
    case WA_PERIODIC:
      return wa_extend_periodic(i, n);
    case WA_CLAMP:
      return wa_extend_clamp(i, n);
    default:
      return i >= 0 && i < n ? i : -1;
  }
}

// The period of a rule in samples, at least 1; 0 if it does not repeat.
WA_INLINE unsigned int wa_extension_period(int rule, int n) {
  switch (rule) {
    case WA_MIRROR:
      return n > 1 ? 2u * (unsigned int)n - 2u : 1u;
    case WA_REFLECT:
      return 2u * (unsigned int)n;
    case WA_PERIODIC:
      return (unsigned int)n;
    default:
      return 0u;
  }
}

// Returns x modulo the period, in 0 ... period - 1, exactly, for an integer x of any size; period <
// 2^32. (fmod() would need the period as a float, which holds only 24 bits of it.) The code writes
// x as mantissa * 2^exponent.
WA_INLINE unsigned int wa_modulo(float x, unsigned int period) {
  const unsigned int bits = WA_FLOAT_BITS(x);
  int exponent = (int)((bits >> 23) & 255u) - 150;
  unsigned int mantissa = (bits & 0x7fffffu) | 0x800000u;
  if (exponent < -23) return 0u;
  if (exponent < 0) mantissa >>= -exponent;
  WA_UINT64 at = mantissa % period;
  while (exponent > 0) {
    const int step = exponent < 31 ? exponent : 31;
    at = (at << step) % period;
    exponent -= step;
  }
  return (unsigned int)(x < 0.0f && at != 0 ? period - at : at);
}

// Whether a coordinate is too far away for wa_split() and needs one of the functions below.
WA_INLINE bool wa_is_far(float high) { return !(WA_FABS(high) < 0x1p+30f); }

// Like wa_split(), for a finite high + low that is far away. *whole is the integer part modulo the
// period, represented by the number nearest to 0.
WA_INLINE float wa_split_far(float high, float low, unsigned int period, int* whole) {
  const float below = WA_FLOOR(low);
  const WA_UINT64 sum = (WA_UINT64)wa_modulo(high, period) + wa_modulo(below, period);
  const unsigned int at = (unsigned int)(sum % period);
  *whole = at > period / 2u ? -(int)(period - at) : (int)at;
  return low - below;
}

// Like wa_split(), for any finite high + low: maps it to a location where the extension of an axis
// of n samples is the same. (Beyond the ends under WA_CLAMP and WA_FILL, any location 64 samples or
// more away is equivalent.)
WA_INLINE float wa_split_extended(int rule, float high, float low, int n, int* whole) {
  if (!wa_is_far(high)) return wa_split(high, low, whole);
  const unsigned int period = wa_extension_period(rule, n);
  if (period != 0u) return wa_split_far(high, low, period, whole);
  *whole = high < 0.0f ? -64 : n + 64;
  return 0.0f;
}

// Maps a split coordinate into [0, n - 1] modulo n - 1 (`wrap`) as SciPy does: coordinates in the
// interval stay unchanged; multiples of n - 1 above it map to 0, those below it to n - 1. `below`:
// the coordinate is below 0. n > 1.
WA_INLINE void wa_wrap_split(bool below, float fraction, int n, int* whole) {
  const int period = n - 1;
  if (!below && *whole >= 0 && (*whole < period || (*whole == period && fraction == 0.0f))) return;
  *whole = wa_extend_periodic(*whole, period);
  if (below && *whole == 0 && fraction == 0.0f) *whole = period;
}

// Like wa_split(), for any finite high + low, which wa_wrap_split() maps.
WA_INLINE float wa_split_wrapped(float high, float low, int n, int* whole) {
  if (n == 1) {
    *whole = 0;
    return 0.0f;
  }
  const float fraction = wa_is_far(high) ? wa_split_far(high, low, (unsigned int)n - 1u, whole)
                                         : wa_split(high, low, whole);
  wa_wrap_split(high + low < 0.0f, fraction, n, whole);
  return fraction;
}

#endif

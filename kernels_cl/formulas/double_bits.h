// Converts doubles to floats and back by integer arithmetic: many OpenCL devices have no type
// double.
//
// A double has 11 bits of exponent and 52 of mantissa, a float 8 and 23 (IEEE 754). The constants
// have no suffix: OpenCL reserves `ull` for 128-bit integers, and compilers reject those.
#ifndef WARPALIGN_FORMULAS_DOUBLE_BITS_H
#define WARPALIGN_FORMULAS_DOUBLE_BITS_H

#include "formulas/language.h"

// The bits of the float nearest to a double, halves to even. A double that is too large becomes
// infinite.
WA_INLINE unsigned int wa_float_bits_of_double(WA_UINT64 bits) {
  const unsigned int sign = (unsigned int)(bits >> 32) & 0x80000000u;
  const WA_UINT64 mantissa = bits & 0xfffffffffffff;
  const int biased = (int)(bits >> 52) & 0x7ff;
  if (biased == 0x7ff) return sign | (mantissa != 0 ? 0x7fc00000u : 0x7f800000u);
  const int exponent = biased - 1023 + 127;
  if (exponent >= 0xff) return sign | 0x7f800000u;
  // Subnormal floats have the exponent of the smallest normal ones and lose a bit at each step.
  const int dropped = exponent > 0 ? 29 : 30 - exponent;
  if (dropped > 54) return sign;
  const WA_UINT64 digits = biased != 0 ? mantissa | 0x10000000000000 : mantissa;
  const WA_UINT64 rest = digits & (((WA_UINT64)1 << dropped) - 1);
  const WA_UINT64 half_way = (WA_UINT64)1 << (dropped - 1);
  unsigned int kept = (unsigned int)(digits >> dropped);
  if (rest > half_way || (rest == half_way && (kept & 1u) != 0)) kept += 1;
  // Adds the leading digit, if there is one; a carry from rounding increments the exponent.
  return sign | ((exponent > 0 ? (unsigned int)(exponent - 1) << 23 : 0) + kept);
}

// The bits of the double that equals a float.
WA_INLINE WA_UINT64 wa_double_bits_of_float(unsigned int bits) {
  const WA_UINT64 sign = (WA_UINT64)(bits & 0x80000000u) << 32;
  unsigned int mantissa = bits & 0x7fffffu;
  int exponent = (int)(bits >> 23) & 0xff;
  if (exponent == 0xff) return sign | 0x7ff0000000000000 | ((WA_UINT64)mantissa << 29);
  if (exponent == 0) {
    if (mantissa == 0) return sign;
    exponent = 1;
    while ((mantissa & 0x800000u) == 0) {
      mantissa <<= 1;
      exponent -= 1;
    }
    mantissa &= 0x7fffffu;
  }
  return sign | ((WA_UINT64)(exponent - 127 + 1023) << 52) | ((WA_UINT64)mantissa << 29);
}

#endif

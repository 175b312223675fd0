// Points of an affine transform in fixed point, in multiples of 2^-32 of a pixel, for OpenCL
// kernels only.
//
// Kernels get each row of the transform twice. `fine` has its entries in multiples of 2^-60 and the
// shift in fixed point: it locates any pixel's point to 2^-30. `steps` has the entries in fixed
// point: it leads from that point to those of a tile's other pixels. Entries are at most 4, and
// points are less than 2^29 away.
#ifndef WARPALIGN_LIB_FIXED_POINT_H
#define WARPALIGN_LIB_FIXED_POINT_H

#include "formulas/language.h"

// n times an entry in multiples of 2^-60, in fixed point.
WA_INLINE long wa_fixed_product(long entry, int n) {
  const long high = (entry >> 32) * n;
  const long low = (entry & 0xffffffffL) * n;
  return high * 16 + (low >> 28);
}

WA_INLINE long wa_fixed_point(long4 fine, int x, int y, int z) {
  return wa_fixed_product(fine.x, x) + wa_fixed_product(fine.y, y) + wa_fixed_product(fine.z, z) +
         fine.w;
}

WA_INLINE int wa_fixed_whole(long coordinate) { return (int)(coordinate >> 32); }

WA_INLINE float wa_fixed_fraction(long coordinate) { return (float)(uint)coordinate * 0x1p-32f; }

// Snaps a coordinate to the nearest integer if it is less than 2^-25 away (see wa_snap()).
WA_INLINE long wa_fixed_snap(long coordinate) {
  const long whole = (coordinate + (1L << 31)) >> 32 << 32;
  const long missed = coordinate - whole;
  return missed > -(1L << 7) && missed < 1L << 7 ? whole : coordinate;
}

// Whether a coordinate lies within an axis of n samples, or less than 2^-25 outside (see
// wa_snap()).
WA_INLINE bool wa_fixed_lies_on(long coordinate, int n) {
  const long missed = 1L << 7;
  return coordinate > -missed && coordinate < ((long)(n - 1) << 32) + missed;
}

#endif

// Volumes in which NaN marks the voxels outside the mask.
#ifndef WARPALIGN_FORMULAS_MARKED_VOLUME_H
#define WARPALIGN_FORMULAS_MARKED_VOLUME_H

#include "formulas/language.h"

#define WA_MARK WA_BITS_FLOAT(0x7fc00000)

WA_INLINE int wa_is_marked(float value) { return !(value == value); }

// The neighbours of voxel i of n along an axis; beyond a face the volume is reflected about the
// last voxel.
WA_INLINE int wa_reflected_before(int i, int n) { return i > 0 ? i - 1 : n > 1 ? 1 : 0; }
WA_INLINE int wa_reflected_after(int i, int n) { return i < n - 1 ? i + 1 : n > 1 ? n - 2 : 0; }

// The cubic B-spline at the middle one of three coefficients; NaN if one of them is NaN.
WA_INLINE float wa_spline_of_three(float before, float here, float after) {
  return WA_FMA(here, 2.0f / 3.0f, (before + after) * (1.0f / 6.0f));
}

#endif

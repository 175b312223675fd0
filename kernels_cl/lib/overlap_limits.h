// The limits of surfaces' shifts, as kernels find them: OverlapLimits, six floats for each image.
#ifndef WARPALIGN_LIB_OVERLAP_LIMITS_H
#define WARPALIGN_LIB_OVERLAP_LIMITS_H

#include "formulas/overlap.h"

typedef struct {
  float min_overlap;
  float
      reach2;  // the square of the maximum distance of a shift from the centre, 0 for any distance
  float centre_x, centre_y;
} SurfaceLimits;

// Of slice number `slice`: surfaces of images are straight and mirrored in turn. `own` is 1 where
// each image has limits of its own, else 0.
WA_INLINE SurfaceLimits limits_of(global const float* limits, int own, size_t slice) {
  global const float* of_image = limits + (own != 0 ? slice / 2 * 6 : 0);
  const bool mirrored = slice % 2 == 1;
  const SurfaceLimits result = {of_image[0], of_image[1] * of_image[1],
                                mirrored ? of_image[4] : of_image[2],
                                mirrored ? of_image[5] : of_image[3]};
  return result;
}

// The overlaps of a slice, of which each image has as many as `each`, or shares two where it is 0.
WA_INLINE global const float* overlaps_of(global const float* overlaps, int each, size_t slice,
                                          size_t plane) {
  return overlaps + (slice / 2 * (size_t)each + slice % 2) * plane;
}

#endif

// The limits of surfaces' shifts, as kernels find them: OverlapLimits, six floats for each image.
// And by how many pixels images overlap, which is stored or, with the option OUTLINES, found from
// outlines, of which each image has one.
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

#ifdef OUTLINES
typedef global const WaOutline* OverlapSource;

typedef struct {
  WaOutlinePairs pairs;
  WA_REAL x_of_zero, y_of_zero;  // the distances of shift 0
  float width, height;
} Overlaps;

// Of a slice; `each` is 1.
WA_INLINE Overlaps overlaps_of(OverlapSource outlines, int each, size_t slice, int width,
                               int height, SurfaceLimits limits) {
  Overlaps overlaps;
  overlaps.pairs = wa_outline_pairs(outlines[slice / 2 * (size_t)each]);
  overlaps.width = (float)width;
  overlaps.height = (float)height;
  const WA_REAL zero = WA_NUMBER(0.0f);
  overlaps.x_of_zero = wa_shift_distance(zero, limits.centre_x, overlaps.width);
  overlaps.y_of_zero = wa_shift_distance(zero, limits.centre_y, overlaps.height);
  return overlaps;
}

// In pixels, of shifts at columns x of rows y.
WA_INLINE WA_REAL outline_pixels(Overlaps overlaps, WA_REAL x, WA_REAL y) {
  const WA_REAL dx = wa_wrapped_distance(x + overlaps.x_of_zero, overlaps.width);
  const WA_REAL dy = wa_wrapped_distance(y + overlaps.y_of_zero, overlaps.height);
  return wa_outline_overlap(overlaps.pairs, wa_edge_heights(overlaps.pairs.first, dy),
                            wa_edge_heights(overlaps.pairs.second, dy), dx);
}
#else
typedef global const float* OverlapSource;

typedef struct {
  global const float* stored;  // times the number of pixels
  float normalization;         // one over it
} Overlaps;

// Of a slice; each image has as many as `each`, or shares two where it is 0.
WA_INLINE Overlaps overlaps_of(OverlapSource stored, int each, size_t slice, int width, int height,
                               SurfaceLimits limits) {
  const size_t plane = (size_t)width * (size_t)height;
  const Overlaps overlaps = {stored + (slice / 2 * (size_t)each + slice % 2) * plane,
                             1.0f / (float)(width * height)};
  return overlaps;
}
#endif

#endif

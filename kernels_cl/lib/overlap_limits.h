// The limits of the shifts of correlation surfaces, in the layout that kernels read: OverlapLimits,
// ten floats per image. Also the overlaps of images, in pixels: stored ones or, with the option
// OUTLINES, computed from the outlines, one per image.
#ifndef WARPALIGN_LIB_OVERLAP_LIMITS_H
#define WARPALIGN_LIB_OVERLAP_LIMITS_H

#include "formulas/overlap.h"

typedef struct {
  float min_overlap;
  float reach2;  // wa_reach_square(): 0 if every shift is allowed
  float centre_x, centre_y;
  float first_x, first_y, second_x, second_y;  // bands
} SurfaceLimits;

// The limits of slice number `slice`: surfaces of images are straight and mirrored in turn. `own`
// is 1 if each image has its own limits, else 0.
WA_INLINE SurfaceLimits limits_of(global const float* limits, int own, size_t slice) {
  global const float* of_image = limits + (own != 0 ? slice / 2 * 10 : 0);
  const bool mirrored = slice % 2 == 1;
  const SurfaceLimits result = {
      of_image[0],
      wa_reach_square(of_image[1], of_image[6], of_image[7], of_image[8], of_image[9]),
      mirrored ? of_image[4] : of_image[2],
      mirrored ? of_image[5] : of_image[3],
      of_image[6],
      of_image[7],
      of_image[8],
      of_image[9]};
  return result;
}

#ifdef OUTLINES
typedef global const WaOutline* OverlapSource;

typedef struct {
  WaOutlinePairs pairs;
  WA_REAL x_of_zero, y_of_zero;  // the distances of shift 0
  float width, height;
} Overlaps;

// The overlaps of a slice; `each` is 1.
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

// The overlap, in pixels, of shifts at columns x of rows y.
WA_INLINE WA_REAL outline_pixels(Overlaps overlaps, WA_REAL x, WA_REAL y) {
  const WA_REAL dx = wa_wrapped_distance(x + overlaps.x_of_zero, overlaps.width);
  const WA_REAL dy = wa_wrapped_distance(y + overlaps.y_of_zero, overlaps.height);
  return wa_outline_overlap(overlaps.pairs, wa_edge_heights(overlaps.pairs.first, dy),
                            wa_edge_heights(overlaps.pairs.second, dy), dx);
}
#else
typedef global const float* OverlapSource;

typedef struct {
  global const float* stored;  // multiplied by the number of pixels
  float normalization;         // 1 / the number of pixels
} Overlaps;

// The overlaps of a slice. Each image has `each` of them, or all images share two if `each` is 0.
WA_INLINE Overlaps overlaps_of(OverlapSource stored, int each, size_t slice, int width, int height,
                               SurfaceLimits limits) {
  const size_t plane = (size_t)width * (size_t)height;
  const Overlaps overlaps = {stored + (slice / 2 * (size_t)each + slice % 2) * plane,
                             1.0f / (float)(width * height)};
  return overlaps;
}
#endif

#endif

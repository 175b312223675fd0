// The sampling positions of the pixels of a simulated view, for the types that kernels compute with
// (WA_REAL).
#ifndef WARPALIGN_SHARED_VIEW_SAMPLES_H
#define WARPALIGN_SHARED_VIEW_SAMPLES_H

#include "shared/kernel_language.h"

#include "formulas/bilinear.h"
#include "formulas/features.h"

#define VIEW_WORDS 4
#define MAP_NUMBERS 6

// A coordinate in the image, from a row of the map.
WA_INLINE WA_REAL wa_mapped(WA_GLOBAL const float* map, WA_REAL x, float y) {
  return WA_FMA(WA_NUMBER(map[0]), x, WA_NUMBER(WA_FMA(map[1], y, map[2])));
}

// The offset of sample i from the middle of its pixel, in pixels of the view.
WA_INLINE float wa_along(int i, int count) { return ((float)i + 0.5f) / (float)count - 0.5f; }

// Pixels beyond the edges repeat the edge.
WA_INLINE WA_REAL wa_in_image(WA_REAL at, int size) {
  return fmin(fmax(at, WA_NUMBER(0.0f)), WA_NUMBER(size - 1));
}

#endif

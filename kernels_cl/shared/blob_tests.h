// What tells extrema of differences of Gaussians (Lowe 2004) from other pixels, and their places
// between pixels. Everywhere `at` points to a pixel of the less smoothed one of two neighbouring
// images, and images are `apart` pixels from one another.
#ifndef WARPALIGN_SHARED_BLOB_TESTS_H
#define WARPALIGN_SHARED_BLOB_TESTS_H

#include "shared/kernel_language.h"

#include "formulas/features.h"

// In pixels: extrema are no closer to the edges of a plane.
#define MARGIN 5
#define MAX_EDGE_RATIO 10.0f

WA_INLINE float wa_difference(WA_GLOBAL const float* at, int apart) { return at[apart] - at[0]; }

// Whether none of nine differences, about a pixel, exceeds a value; `sign` is that of the value.
WA_INLINE int wa_exceeds_nine(float value, float sign, WA_GLOBAL const float* at, int width,
                              int apart) {
  for (int v = -1; v <= 1; ++v) {
    for (int u = -1; u <= 1; ++u) {
      if (sign * wa_difference(at + v * width + u, apart) > sign * value) return 0;
    }
  }
  return 1;
}

// Whether the difference bends much more along one direction than across it.
WA_INLINE int wa_is_edge(float here, WA_GLOBAL const float* at, int width, int apart) {
  const float left = wa_difference(at - 1, apart);
  const float right = wa_difference(at + 1, apart);
  const float above = wa_difference(at - width, apart);
  const float below = wa_difference(at + width, apart);
  const float xx = left - 2.0f * here + right;
  const float yy = above - 2.0f * here + below;
  const float xy =
      (wa_difference(at + width + 1, apart) - wa_difference(at + width - 1, apart) -
       wa_difference(at - width + 1, apart) + wa_difference(at - width - 1, apart)) /
      4.0f;
  const float determinant = xx * yy - xy * xy;
  const float trace = xx + yy;
  return determinant <= 0.0f || trace * trace * MAX_EDGE_RATIO >=
                                    (MAX_EDGE_RATIO + 1.0f) * (MAX_EDGE_RATIO + 1.0f) * determinant;
}

// Whether a difference of at least this size is an extremum but on no edge.
WA_INLINE int wa_is_blob(WA_GLOBAL const float* at, int width, int apart, float least) {
  const float here = wa_difference(at, apart);
  if (!(WA_FABS(here) >= least) || here == 0.0f) return 0;
  const float sign = here > 0.0f ? 1.0f : -1.0f;
  if (!wa_exceeds_nine(here, sign, at, width, apart)) return 0;
  if (!wa_exceeds_nine(here, sign, at - apart, width, apart)) return 0;
  if (!wa_exceeds_nine(here, sign, at + apart, width, apart)) return 0;
  return !wa_is_edge(here, at, width, apart);
}

// The extremum at pixel (x, y) of an image of a plane.
WA_INLINE WaBlob wa_blob_at(WA_GLOBAL const float* at, int width, int apart, int x, int y,
                            int image, int plane, int octave) {
  const float here = wa_difference(at, apart);
  WaBlob blob;
  blob.octave = octave;
  blob.plane = plane;
  blob.image = image;
  blob.x = (float)x + wa_vertex(wa_difference(at - 1, apart), here, wa_difference(at + 1, apart));
  blob.y = (float)y + wa_vertex(wa_difference(at - width, apart), here,
                                wa_difference(at + width, apart));
  blob.scale = (float)image + wa_vertex(wa_difference(at - apart, apart), here,
                                        wa_difference(at + apart, apart));
  blob.strength = WA_FABS(here);
  return blob;
}

#endif

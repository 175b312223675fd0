// Local features of images: the layout of packed planes, and the records that kernels exchange with
// the host.
#ifndef WARPALIGN_FORMULAS_FEATURES_H
#define WARPALIGN_FORMULAS_FEATURES_H

#include "formulas/language.h"

// In the host's layout.
typedef struct {
  int octave, plane, image;
  float x, y, scale, strength;
} WaBlob;

typedef struct {
  int plane, image;
  float x, y, sigma, radians;
} WaKeypoint;

typedef struct {
  int index;
  float value;
} WaNearest;

// The words of a packed plane: its first pixel, its width and its height.
#define WA_PLANE_WORDS 3

// The radius of the longest Gaussian of an octave for which a work-group shares its pixels: that of
// Lowe (2004) for the last of six images, with a sigma of 3.09.
#define WA_OCTAVE_MAX_RADIUS 10

// The number of rows of a work-group's tile that each work-item smooths or tests.
#define WA_ROWS_AN_ITEM 4

// The number of features of each image in a tile of descriptor products.
#define WA_FEATURES_OF_TILE 128

WA_INLINE int wa_within(int i, int n) { return i < 0 ? 0 : (i < n ? i : n - 1); }

// The vertex of the parabola through three values, between -1/2 and 1/2.
WA_INLINE float wa_vertex(float before, float here, float after) {
  const float bend = before - 2.0f * here + after;
  if (bend == 0.0f) return 0.0f;
  const float at = (before - after) / (2.0f * bend);
  return at < -0.5f ? -0.5f : (at > 0.5f ? 0.5f : at);
}

// The distance of two descriptors of length 1 whose scalar product is given.
WA_INLINE float wa_descriptor_distance(float product) {
  const float square = 2.0f - 2.0f * product;
  return WA_SQRT(square > 1e-6f ? square : 1e-6f);
}

#endif

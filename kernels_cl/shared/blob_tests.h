// The tests for extrema of differences of Gaussians (Lowe 2004), and their subpixel positions.
#ifndef WARPALIGN_SHARED_BLOB_TESTS_H
#define WARPALIGN_SHARED_BLOB_TESTS_H

#include "shared/kernel_language.h"

#include "formulas/features.h"

// The distance of extrema from the edges of a plane, in pixels, at least.
#define MARGIN 5
#define MAX_EDGE_RATIO 10.0f

// The differences at a pixel and around it: three scales, three rows and three columns.
typedef struct {
  float of[27];
} WaDifferences;

#define WA_DIFFERENCE(d, scale, row, column) ((d).of[13 + 9 * (scale) + 3 * (row) + (column)])

// Whether one of two neighbours exceeds a difference.
WA_INLINE int wa_is_exceeded(float here, float before, float after) {
  const float sign = here > 0.0f ? 1.0f : -1.0f;
  return sign * before > sign * here || sign * after > sign * here;
}

// Whether no neighbour exceeds the difference in the middle.
WA_INLINE int wa_is_extremum(WaDifferences d) {
  int exceeds = 1;
  WA_UNROLL
  for (int i = 0; i < 13; ++i) {
    if (wa_is_exceeded(d.of[13], d.of[i], d.of[26 - i])) exceeds = 0;
  }
  return exceeds;
}

// Whether the curvature of the difference is much larger along one direction than along the other.
WA_INLINE int wa_is_edge(WaDifferences d) {
  const float here = WA_DIFFERENCE(d, 0, 0, 0);
  const float xx = WA_DIFFERENCE(d, 0, 0, -1) - 2.0f * here + WA_DIFFERENCE(d, 0, 0, 1);
  const float yy = WA_DIFFERENCE(d, 0, -1, 0) - 2.0f * here + WA_DIFFERENCE(d, 0, 1, 0);
  const float xy = (WA_DIFFERENCE(d, 0, 1, 1) - WA_DIFFERENCE(d, 0, 1, -1) -
                    WA_DIFFERENCE(d, 0, -1, 1) + WA_DIFFERENCE(d, 0, -1, -1)) /
                   4.0f;
  const float determinant = xx * yy - xy * xy;
  const float trace = xx + yy;
  return determinant <= 0.0f || trace * trace * MAX_EDGE_RATIO >=
                                    (MAX_EDGE_RATIO + 1.0f) * (MAX_EDGE_RATIO + 1.0f) * determinant;
}

// Whether a difference of at least this size is an extremum and not on an edge.
WA_INLINE int wa_is_blob(WaDifferences d, float least) {
  const float here = WA_DIFFERENCE(d, 0, 0, 0);
  if (!(WA_FABS(here) >= least) || here == 0.0f) return 0;
  return wa_is_extremum(d) && !wa_is_edge(d);
}

// The extremum at pixel (x, y) of an image of a plane.
WA_INLINE WaBlob wa_blob_at(WaDifferences d, int x, int y, int image, int plane, int octave) {
  const float here = WA_DIFFERENCE(d, 0, 0, 0);
  WaBlob blob;
  blob.octave = octave;
  blob.plane = plane;
  blob.image = image;
  blob.x = (float)x + wa_vertex(WA_DIFFERENCE(d, 0, 0, -1), here, WA_DIFFERENCE(d, 0, 0, 1));
  blob.y = (float)y + wa_vertex(WA_DIFFERENCE(d, 0, -1, 0), here, WA_DIFFERENCE(d, 0, 1, 0));
  blob.scale =
      (float)image + wa_vertex(WA_DIFFERENCE(d, -1, 0, 0), here, WA_DIFFERENCE(d, 1, 0, 0));
  blob.strength = WA_FABS(here);
  return blob;
}

#endif

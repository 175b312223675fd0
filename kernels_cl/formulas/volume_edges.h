// The edge strength at a voxel.
#ifndef WARPALIGN_FORMULAS_VOLUME_EDGES_H
#define WARPALIGN_FORMULAS_VOLUME_EDGES_H

#include "formulas/language.h"

// The neighbours of voxel i of n along an axis; at a face the voxel is its own neighbour.
WA_INLINE int wa_voxel_before(int i) { return i > 0 ? i - 1 : i; }
WA_INLINE int wa_voxel_after(int i, int n) { return i < n - 1 ? i + 1 : i; }

// The slope at voxel i of n. factor: 1 / (2 spacing). At a face the neighbours are one voxel apart,
// not two.
WA_INLINE float wa_voxel_slope(float before, float after, int i, int n, float factor) {
  const float difference = (after - before) * factor;
  return i > 0 && i < n - 1 ? difference : 2.0f * difference;
}

// The edge strength for slopes x, y and z along the axes.
WA_INLINE float wa_edge_strength(float x, float y, float z, float share, float epsilon) {
  const float length = WA_SQRT(WA_FMA(x, x, WA_FMA(y, y, z * z)));
  return length / WA_FMA(share, length, epsilon);
}

#endif

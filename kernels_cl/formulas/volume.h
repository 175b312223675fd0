// The terms that one voxel adds to the sums over the overlap of two volumes.
#ifndef WARPALIGN_FORMULAS_VOLUME_H
#define WARPALIGN_FORMULAS_VOLUME_H

#include "formulas/bspline.h"
#include "formulas/language.h"
#include "formulas/marked_volume.h"
#include "formulas/similarity.h"

// The numbers of sums; warpalign::backend::volume_moment_count and volume_step_count are the same,
// and list the sums in the same order.
#define WA_VOLUME_MOMENTS 5
#define WA_VOLUME_STEP_SUMS 23

WA_INLINE void wa_volume_add_moments(float reference, float moving, float* sums) {
  sums[0] += reference;
  sums[1] += moving;
  sums[2] = WA_FMA(reference, reference, sums[2]);
  sums[3] = WA_FMA(moving, moving, sums[3]);
  sums[4] = WA_FMA(reference, moving, sums[4]);
}

// Cubic weights and their derivatives along the three axes.
typedef struct {
  float x[4], y[4], z[4];
  float dx[4], dy[4], dz[4];
} WaVolumeWeights;

WA_INLINE void wa_volume_weights(float x, float y, float z, WaVolumeWeights* weights) {
  wa_bspline_weights_3(x, weights->x);
  wa_bspline_weights_3(y, weights->y);
  wa_bspline_weights_3(z, weights->z);
  wa_bspline_derivatives_3(x, weights->dx);
  wa_bspline_derivatives_3(y, weights->dy);
  wa_bspline_derivatives_3(z, weights->dz);
}

// Adds a row of four coefficients around a point; y and dy are the row's weight along y and that
// weight's derivative. plane: the value and the slopes along x and y within the rows' plane.
WA_INLINE void wa_volume_add_row(float c0, float c1, float c2, float c3,
                                 const WaVolumeWeights* weights, float y, float dy, float* plane) {
  const float row = wa_row_of_four(c0, c1, c2, c3, weights->x);
  plane[0] = WA_FMA(y, row, plane[0]);
  plane[1] = WA_FMA(y, wa_row_of_four(c0, c1, c2, c3, weights->dx), plane[1]);
  plane[2] = WA_FMA(dy, row, plane[2]);
}

// Adds a plane; z and dz are its weight along z and that weight's derivative. location: the
// spline's value and its slopes along x, y and z.
WA_INLINE void wa_volume_add_plane(const float* plane, float z, float dz, float* location) {
  location[0] = WA_FMA(z, plane[0], location[0]);
  location[1] = WA_FMA(z, plane[1], location[1]);
  location[2] = WA_FMA(z, plane[2], location[2]);
  location[3] = WA_FMA(dz, plane[0], location[3]);
}

// Whether a pair of marked volumes is valid at a point: whether no voxel that the reference, its
// slopes and the spline need is NaN.
WA_INLINE int wa_volume_is_valid(float reference, const float* reference_slope,
                               const float* location) {
  return !(wa_is_marked(reference) || wa_is_marked(reference_slope[0]) ||
           wa_is_marked(reference_slope[1]) || wa_is_marked(reference_slope[2]) ||
           wa_is_marked(location[0]));
}

// Adds a voxel to the sums of a Gauss-Newton step. reference_slope: half the differences between
// the reference's neighbours along x, y and z.
WA_INLINE void wa_volume_add_step(float reference, const float* reference_slope,
                                  const float* location, float* sums) {
  const float value = location[0];
  for (int i = 0; i < 3; ++i) {
    const float slope = reference_slope[i];
    for (int j = 0; j < 3; ++j) {
      sums[3 * i + j] = WA_FMA(slope, location[1 + j], sums[3 * i + j]);
    }
    sums[9 + i] = WA_FMA(slope, reference, sums[9 + i]);
    sums[12 + i] = WA_FMA(slope, value, sums[12 + i]);
    sums[15 + i] += slope;
  }
  wa_volume_add_moments(reference, value, sums + 18);
}

#endif

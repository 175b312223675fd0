// The steps of one Gauss-Newton fit of a transform between two images: from sums to a new state, at
// which the next sums are computed.
//
// Core takes the steps in double precision. If a fit stays on the device, a kernel takes them in
// single precision.
#ifndef WARPALIGN_FORMULAS_FIT_STEPS_H
#define WARPALIGN_FORMULAS_FIT_STEPS_H

#include "formulas/language.h"
#include "formulas/moments.h"
#include "formulas/plane_maps.h"
#include "formulas/small_solver.h"

// A fit. In single precision this is warpalign::FitRecord.
typedef struct {
  // Input: half of the distances between the outermost pixels of both images. Transforms are as in
  // plane_maps.h, with 1 as their last number.
  WA_REAL reference_x, reference_y, moving_x, moving_y;
  WA_REAL start[9];
  WA_REAL min_pixels, max_drift, tolerance;
  WA_REAL min_pivot;  // for wa_solve_symmetric()
  // the scale of Tukey's weights divided by the residuals' mean absolute value
  WA_REAL scale_of_mean;
  int free_parameters;     // bit i: the fit varies parameter i of warpalign::SimilaritySumsResult
  int iterations;          // at most
  int fixed_illumination;  // whether gain and offset keep their initial values
  // The state at which the next sums are computed.
  int in_progress;
  int iteration;
  WA_REAL matrix[9];
  WA_REAL gain, offset, second_offset;  // the offset of a second channel
  WA_REAL scale;                        // of Tukey's weights; 0: all pixels count equally
  WA_REAL centre_x, centre_y, unit;     // of the parameters of a homography
  // Output.
  int found, converged;
  WA_REAL last_move, correlation, pixels;
} WaFit;

WA_INLINE void wa_fit_fail(WaFit* fit) {
  fit->in_progress = 0;
  fit->found = 0;
}

WA_INLINE WA_REAL wa_within(WA_REAL x, WA_REAL limit) {
  return x < -limit ? -limit : (x > limit ? limit : x);
}

// Chooses the origin and unit of a homography's parameters: the part of the moving image that the
// reference covers then reaches from about -1 to 1, so that the normal equations are well
// conditioned. Both are rounded to whole pixels, which reach the sums without rounding errors.
WA_INLINE void wa_fit_frame(WaFit* fit) {
  WA_REAL left = fit->moving_x;
  WA_REAL right = -fit->moving_x;
  WA_REAL top = fit->moving_y;
  WA_REAL bottom = -fit->moving_y;
  WA_UNROLL
  for (int i = 0; i < 4; ++i) {
    WA_REAL x, y;
    wa_map(fit->matrix, wa_corner_x(i, fit->reference_x), wa_corner_y(i, fit->reference_y), &x, &y);
    x = wa_within(x, fit->moving_x);
    y = wa_within(y, fit->moving_y);
    left = x < left ? x : left;
    right = x > right ? x : right;
    top = y < top ? y : top;
    bottom = y > bottom ? y : bottom;
  }
  fit->centre_x = WA_ROUND(0.5f * (left + right) + fit->moving_x) - fit->moving_x;
  fit->centre_y = WA_ROUND(0.5f * (top + bottom) + fit->moving_y) - fit->moving_y;
  const WA_REAL longer = right - left > bottom - top ? right - left : bottom - top;
  const WA_REAL unit = WA_ROUND(0.5f * longer);
  fit->unit = unit > 1.0f ? unit : WA_NUMBER(1.0f);
}

// The gain is the ratio of the contrasts: a least-squares gain would be too small if the reference
// is noisy, and uneven illumination can even reverse its sign. Each channel has its own offset.
WA_INLINE void wa_fit_illumination(WaFit* fit, const WaMoments* all, const WaMoments* channels) {
  fit->gain = wa_gain(all);
  fit->offset = wa_offset(&channels[0], fit->gain);
  fit->second_offset = wa_offset(&channels[1], fit->gain);
}

WA_INLINE WaMoments wa_of_channels(const WaMoments* channels, int count) {
  return count == 2 ? wa_joined(&channels[0], &channels[1]) : channels[0];
}

// Begins a fit, with the moments of one or two channels at the start. `channels` always has two
// elements; an unused one has no effect.
WA_INLINE void wa_fit_begin(WaFit* fit, const WaMoments* channels, int count, int projective) {
  const WaMoments all = wa_of_channels(channels, count);
  if (!(all.pixels >= fit->min_pixels)) {
    wa_fit_fail(fit);
    return;
  }
  WA_UNROLL
  for (int i = 0; i < 9; ++i) fit->matrix[i] = fit->start[i];
  wa_fit_illumination(fit, &all, channels);
  fit->scale = 0.0f;
  fit->iteration = 0;
  fit->in_progress = fit->iterations > 0 ? 1 : 0;
  fit->found = 1;
  fit->converged = 0;
  fit->last_move = 0.0f;
  fit->correlation = wa_correlation(&all);
  fit->pixels = all.pixels;
  if (projective) wa_fit_frame(fit);
}

// The parameters of a step as a homography of positions in the moving image.
WA_INLINE void wa_homography_update(const WaFit* fit, const WA_REAL* d, WA_REAL* update) {
  const WA_REAL inverse = 1.0f / fit->unit;
  WA_REAL about_centre[9];
  about_centre[0] = 1.0f + d[2] * inverse;
  about_centre[1] = d[3] * inverse;
  about_centre[2] = d[0];
  about_centre[3] = d[4] * inverse;
  about_centre[4] = 1.0f + d[5] * inverse;
  about_centre[5] = d[1];
  about_centre[6] = d[6] * inverse * inverse;
  about_centre[7] = d[7] * inverse * inverse;
  about_centre[8] = 1.0f;
  WA_UNROLL
  for (int row = 0; row < 3; ++row) {
    const WA_REAL* from = about_centre + 3 * row;
    WA_REAL* to = update + 3 * row;
    to[0] = from[0];
    to[1] = from[1];
    to[2] = WA_FMA(-from[0], fit->centre_x, WA_FMA(-from[1], fit->centre_y, from[2]));
  }
  WA_UNROLL
  for (int column = 0; column < 3; ++column) {
    update[column] = WA_FMA(fit->centre_x, update[6 + column], update[column]);
    update[3 + column] = WA_FMA(fit->centre_y, update[6 + column], update[3 + column]);
  }
}

// The parameters of a step of a similarity, relative to the moving image's centre, as a matrix.
WA_INLINE void wa_similarity_update(const WA_REAL* d, WA_REAL* update) {
  const WA_REAL scale = WA_EXP(d[2]);
  const WA_REAL cosine = scale * WA_COS(d[3]);
  const WA_REAL sine = scale * WA_SIN(d[3]);
  update[0] = cosine;
  update[1] = sine;
  update[2] = d[0];
  update[3] = -sine;
  update[4] = cosine;
  update[5] = d[1];
  update[6] = 0.0f;
  update[7] = 0.0f;
  update[8] = 1.0f;
}

// Finds the matrix after one step, from the sums over `pixels` of all channels: the normal
// equations of four or eight parameters (a constant in kernels), which are overwritten. Returns 0
// if there is no such matrix.
WA_INLINE int wa_fit_step(const WaFit* fit, WA_REAL pixels, WA_REAL* hessian, WA_REAL* gradient,
                          int parameters, WA_REAL* next) {
  if (!(pixels >= fit->min_pixels)) return 0;
  // For a fixed parameter the equations become: step 0, independent of the others.
  WA_UNROLL
  for (int i = 0; i < parameters; ++i) {
    const int row_is_free = fit->free_parameters >> i & 1;
    WA_UNROLL
    for (int j = 0; j <= i; ++j) {
      const int is_free = row_is_free & fit->free_parameters >> j;
      const WA_REAL otherwise = i == j ? 1.0f : 0.0f;
      hessian[i * parameters + j] = is_free != 0 ? hessian[i * parameters + j] : otherwise;
    }
    gradient[i] = row_is_free != 0 ? -gradient[i] : WA_NUMBER(0.0f);
  }
  if (!wa_solve_symmetric(hessian, gradient, parameters, fit->min_pivot)) return 0;
  WA_REAL update[9];
  if (parameters == 8) {
    wa_homography_update(fit, gradient, update);
  } else {
    wa_similarity_update(gradient, update);
  }
  wa_compose(update, fit->matrix, next);
  const WA_REAL inverse = 1.0f / next[8];
  WA_UNROLL
  for (int i = 0; i < 9; ++i) next[i] *= inverse;
  return wa_is_regular(next, fit->reference_x, fit->reference_y);
}

// Takes the step to `next`, which moves the images by `moved` and is `drift` away from the start.
WA_INLINE void wa_fit_update(WaFit* fit, const WaMoments* channels, int count, const WA_REAL* next,
                           WA_REAL moved, WA_REAL drift, int projective) {
  if (!(drift < fit->max_drift)) {
    wa_fit_fail(fit);
    return;
  }
  const WaMoments all = wa_of_channels(channels, count);
  WA_UNROLL
  for (int i = 0; i < 9; ++i) fit->matrix[i] = next[i];
  // In the first iteration all pixels have equal weight; it only measures the residuals' size.
  fit->converged = fit->scale > 0.0f && moved < fit->tolerance ? 1 : 0;
  fit->last_move = moved;
  fit->correlation = wa_correlation(&all);
  fit->pixels = all.pixels;
  if (!fit->fixed_illumination) wa_fit_illumination(fit, &all, channels);
  fit->scale = fit->scale_of_mean * all.absolute / all.pixels;
  ++fit->iteration;
  fit->in_progress = !fit->converged && fit->iteration < fit->iterations ? 1 : 0;
  if (fit->in_progress && projective) wa_fit_frame(fit);
}

#endif

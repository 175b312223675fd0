// The parts of a step of a Gauss-Newton fit that stays on the device, for kernels that take one or
// many steps. A kernel may include this file more than once, each time with other options and in
// another namespace.
//
// Options: those of fit_step.cl.
#include "formulas/resident_fit.h"
#include "formulas/similarity.h"
#include "shared/kernel_language.h"

#undef PARAMETERS
#undef SUMS
#undef IS_PROJECTIVE
#ifdef PROJECTIVE
#define PARAMETERS 8
#define SUMS WA_HOMOGRAPHY_SUMS
#define IS_PROJECTIVE 1
#else
#define PARAMETERS 4
#define SUMS WA_SIMILARITY_SUMS
#define IS_PROJECTIVE 0
#endif
#undef GRID_POINTS
#undef GRID_SUMS
#undef FIRST_MOMENT
// Points along each side of the grid, and the sums over it.
#define GRID_POINTS 17
#define GRID_SUMS 4

// The index of the first moment among the sums.
#define FIRST_MOMENT (SUMS - 7)

// The next task for a fit.
WA_INLINE int wa_phase_of(WA_GLOBAL const WaFitRecord* record) {
  const int phase = record->phase;
  return phase != WA_FIT_WRITE_STATES && record->fit.in_progress == 0 ? WA_FIT_ENDED : phase;
}

// Writes the states of a fit's channels.
WA_INLINE void wa_put_states(WA_GLOBAL const WaFitRecord* record, WA_GLOBAL WaSumsState* states) {
  const WaFit fit = record->fit;
  for (int channel = 0; channel < record->channels; ++channel) {
    states[record->states[channel]] = wa_sums_state(&fit, channel);
  }
}

// The total of one sum over all groups, in a fixed order.
WA_INLINE float wa_total(WA_GLOBAL const float* partials, int groups) {
  float high = 0.0f;
  float low = 0.0f;
#pragma unroll 8
  for (int group = 0; group < groups; ++group) {
    float error;
    high = wa_two_sum(high, partials[group], &error);
    low += error;
  }
  return high + low;
}

// The moments of both channels, from the totals.
WA_INLINE void wa_both_moments(WA_IN_LOCAL const float* totals, WaMoments* moments) {
  WA_UNROLL
  for (int channel = 0; channel < 2; ++channel) {
    WA_IN_LOCAL const float* from = totals + channel * SUMS + FIRST_MOMENT;
    moments[channel].pixels = from[0];
    moments[channel].absolute = from[1];
    moments[channel].reference = from[2];
    moments[channel].moving = from[3];
    moments[channel].reference_square = from[4];
    moments[channel].moving_square = from[5];
    moments[channel].product = from[6];
  }
}

// The normal equations of both channels together, from the totals, in the form that wa_fit_step()
// takes.
WA_INLINE void wa_equations(WA_IN_LOCAL const float* totals, float* hessian, float* gradient) {
  WA_UNROLL
  for (int row = 0; row < PARAMETERS; ++row) {
    WA_UNROLL
    for (int column = 0; column <= row; ++column) {
      const int at = column * (2 * PARAMETERS - 1 - column) / 2 + row;
      hessian[row * PARAMETERS + column] = totals[at] + totals[SUMS + at];
    }
    const int at = PARAMETERS * (PARAMETERS + 1) / 2 + row;
    gradient[row] = totals[at] + totals[SUMS + at];
  }
}

// Processes the sums of a fit: begins the fit with the moments of the start, or solves the normal
// equations. Returns whether there is a step to take; `maps` then gets the matrix after the step,
// the current one, and that at the start.
WA_INLINE int wa_take_sums(int phase, WA_IN_LOCAL const float* totals,
                           WA_GLOBAL WaFitRecord* record, WA_IN_LOCAL float* maps) {
  if (phase == WA_FIT_ENDED) return 0;
  if (phase == WA_FIT_WRITE_STATES) {
    record->phase = WA_FIT_BEGIN;
    return 0;
  }
  WaFit fit = record->fit;
  if (phase == WA_FIT_BEGIN) {
    WaMoments moments[2];
    wa_both_moments(totals, moments);
    wa_fit_begin(&fit, moments, record->channels, IS_PROJECTIVE);
    record->fit = fit;
    record->phase = WA_FIT_STEP;
    return 0;
  }
  float hessian[PARAMETERS * PARAMETERS];
  float gradient[PARAMETERS];
  float next[9];
  wa_equations(totals, hessian, gradient);
  if (!wa_fit_step(&fit, totals[FIRST_MOMENT], hessian, gradient, PARAMETERS, next)) {
    wa_fit_fail(&fit);
    record->fit = fit;
    return 0;
  }
  WA_UNROLL
  for (int i = 0; i < 9; ++i) {
    maps[i] = next[i];
    maps[9 + i] = fit.matrix[i];
    maps[18 + i] = fit.start[i];
  }
  return 1;
}

#ifdef PROJECTIVE
// Sums over a grid of points how far the step moves the image and how far the fit is from its
// start: the squared distances and the numbers of valid points, in grid[0], grid[GROUP] and so on.
// `points`: the size of the grid, or 0 if there is no step.
WA_INLINE void wa_measure(WA_IN_LOCAL const float* maps, WA_GLOBAL const WaFitRecord* record,
                          int points, int item, WA_IN_LOCAL float* grid) {
  float mine[27];
  WA_UNROLL
  for (int i = 0; i < 27; ++i) mine[i] = maps[i];
  float sums[GRID_SUMS];
  WA_UNROLL
  for (int i = 0; i < GRID_SUMS; ++i) sums[i] = 0.0f;
  const float reach_x = record->fit.moving_x;
  const float reach_y = record->fit.moving_y;
  for (int point = item; point < points; point += GROUP) {
    const int row = point / GRID_POINTS;
    const float half_grid = 0.5f * (float)(GRID_POINTS - 1);
    const float x =
        record->fit.reference_x * ((float)(point - row * GRID_POINTS) / half_grid - 1.0f);
    const float y = record->fit.reference_y * ((float)row / half_grid - 1.0f);
    wa_add_distance(mine, mine + 9, x, y, reach_x, reach_y, &sums[0], &sums[1]);
    wa_add_distance(mine, mine + 18, x, y, reach_x, reach_y, &sums[2], &sums[3]);
  }
  WA_UNROLL
  for (int i = 0; i < GRID_SUMS; ++i) grid[i * GROUP + item] = sums[i];
  WA_BARRIER();
  for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
    if (item < half_group) {
      WA_UNROLL
      for (int i = 0; i < GRID_SUMS; ++i) {
        grid[i * GROUP + item] += grid[i * GROUP + item + half_group];
      }
    }
    WA_BARRIER();
  }
}
#endif

// The root mean square distance at the valid points of the grid. Without any, or for a similarity,
// the largest distance at the corners.
WA_INLINE float wa_distance(float squares, float points, const WaFit* fit, const float* a,
                            const float* b) {
  return points > 0.0f ? WA_SQRT(squares / points)
                       : wa_corner_distance(a, b, fit->reference_x, fit->reference_y);
}

// Takes the step that wa_take_sums() has found.
WA_INLINE void wa_take_step(WA_IN_LOCAL const float* totals, WA_IN_LOCAL const float* maps,
                            WA_IN_LOCAL const float* grid, WA_GLOBAL WaFitRecord* record) {
  WaFit fit = record->fit;
  float next[9];
  WA_UNROLL
  for (int i = 0; i < 9; ++i) next[i] = maps[i];
#ifdef PROJECTIVE
  const float moved = wa_distance(grid[0], grid[GROUP], &fit, next, fit.matrix);
  const float drift = wa_distance(grid[2 * GROUP], grid[3 * GROUP], &fit, next, fit.start);
#else
  const float moved = wa_distance(0.0f, 0.0f, &fit, next, fit.matrix);
  const float drift = wa_distance(0.0f, 0.0f, &fit, next, fit.start);
#endif
  WaMoments moments[2];
  wa_both_moments(totals, moments);
  wa_fit_update(&fit, moments, record->channels, next, moved, drift, IS_PROJECTIVE);
  record->fit = fit;
}

// Takes a step of a fit, given the totals of its sums, by all work-items of a group. The result is
// in the record after the group's next barrier. `steps`, `maps` and `grid` are the group's, of 1,
// 27 and GRID_SUMS GROUP elements.
WA_INLINE void wa_step(int phase, WA_IN_LOCAL const float* totals, WA_GLOBAL WaFitRecord* record,
                       int item, WA_IN_LOCAL int* steps, WA_IN_LOCAL float* maps,
                       WA_IN_LOCAL float* grid) {
  if (item == 0) *steps = wa_take_sums(phase, totals, record, maps);
  WA_BARRIER();
#ifdef PROJECTIVE
  wa_measure(maps, record, *steps != 0 ? GRID_POINTS * GRID_POINTS : 0, item, grid);
#endif
  if (item == 0 && *steps != 0) wa_take_step(totals, maps, grid, record);
}

// The samples of gradients around a keypoint, for its orientations and its descriptor, and the
// evaluation of their histograms. CPUs evaluate several samples at once (WA_REAL).
#ifndef WARPALIGN_SHARED_GRADIENT_SAMPLES_H
#define WARPALIGN_SHARED_GRADIENT_SAMPLES_H

#include "shared/kernel_language.h"

#include "formulas/features.h"
#include "formulas/turns.h"

#define SIDE 20
#define SAMPLES (SIDE * SIDE)
#define BINS 36
#define OTHER_DIRECTION 0.8f
#define MAX_DIRECTIONS 2
#define NO_DIRECTION 100.0f
// In units of the keypoint's sigma.
#define ORIENTATION_RADIUS 4.5f
#define DIRECTIONS_SIGMA 1.5f
#define CELL_SIDE 3.0f
#define CELLS 4
#define DIRECTIONS 8
#define DIMENSIONS (CELLS * CELLS * DIRECTIONS)
#define MAX_PART 0.2f

// Sample i of an axis, in units of the distance between samples.
WA_INLINE WA_REAL wa_sample(WA_REAL i) { return i - 0.5f * (float)(SIDE - 1); }

WA_INLINE WA_REAL wa_nearest_pixel(float place, WA_REAL apart) {
  return WA_FLOOR(place + apart + 0.5f);
}

// The gradient at the pixel that is nearest to a sample.
typedef struct {
  WA_REAL x, y;    // relative to the keypoint
  WA_REAL length;  // 0 if there is no such pixel
  WA_REAL turns;
} WaGradient;

WA_INLINE WaGradient wa_gradient(WA_REAL x, WA_REAL y, WA_REAL dx, WA_REAL dy) {
  WaGradient gradient;
  gradient.x = x;
  gradient.y = y;
  gradient.length = WA_SQRT(WA_FMA(dx, dx, dy * dy));
  gradient.turns = wa_turns(dy, dx);
  return gradient;
}

// The distance between the samples for the orientations, in pixels.
WA_INLINE float wa_step_for_directions(WaKeypoint place) {
  return 2.0f * ORIENTATION_RADIUS / (float)SIDE * place.sigma;
}

// The weight of a gradient in the bin of its direction.
WA_INLINE WA_REAL wa_length_for_directions(WaGradient gradient, WaKeypoint place) {
  const float sigma = DIRECTIONS_SIGMA * place.sigma;
  const WA_REAL square = WA_FMA(gradient.x, gradient.x, gradient.y * gradient.y);
  return gradient.length * WA_EXP(-square / (2.0f * sigma * sigma));
}

// The bin of a gradient is this number, rounded down; bin BINS is bin 0.
WA_INLINE WA_REAL wa_bin_of(WaGradient gradient) {
  return WA_FMA(gradient.turns, WA_NUMBER(BINS), WA_NUMBER(0.5f));
}

WA_INLINE float wa_smoothed_bin(WA_IN_LOCAL const float* bins, int i) {
  const float before = bins[(i + BINS - 1) % BINS];
  const float after = bins[(i + 1) % BINS];
  return (before + 2.0f * bins[i] + after) / 4.0f;
}

// The orientation of bin i, in radians, interpolated between bins. Bin -1 does not exist.
WA_INLINE float wa_direction_of_bin(WA_IN_LOCAL const float* bins, int i) {
  if (i < 0) return NO_DIRECTION;
  const float before = bins[(i + BINS - 1) % BINS];
  const float after = bins[(i + 1) % BINS];
  return ((float)i + wa_vertex(before, bins[i], after)) * (ONE_TURN / (float)BINS);
}

// The orientations of the two highest peaks, the highest first.
WA_INLINE void wa_find_directions(WA_IN_LOCAL const float* bins, WA_GLOBAL float* radians) {
  int best = -1;
  int next = -1;
  for (int i = 0; i < BINS; ++i) {
    if (bins[i] < bins[(i + BINS - 1) % BINS] || bins[i] <= bins[(i + 1) % BINS]) continue;
    if (best < 0 || bins[i] > bins[best]) {
      next = best;
      best = i;
    } else if (next < 0 || bins[i] > bins[next]) {
      next = i;
    }
  }
  if (next >= 0 && bins[next] < OTHER_DIRECTION * bins[best]) next = -1;
  radians[0] = wa_direction_of_bin(bins, best);
  radians[1] = wa_direction_of_bin(bins, next);
}

// The geometry of a keypoint's grid of cells.
typedef struct {
  float cell;  // in pixels
  float step;  // the distance between samples, in pixels
  float cosine, sine, rotated;
} WaCells;

WA_INLINE WaCells wa_cells(WaKeypoint place) {
  WaCells cells;
  cells.cell = CELL_SIDE * place.sigma;
  cells.step = cells.cell * ((float)(CELLS + 1) / (float)SIDE);
  cells.cosine = WA_COS(place.radians);
  cells.sine = WA_SIN(place.radians);
  cells.rotated = place.radians / ONE_TURN;
  return cells;
}

// The position of a sample in the histogram, in bins from the middle of the first one, and its
// weight.
typedef struct {
  WA_REAL column, row, direction, length;
} WaSample;

WA_INLINE WaSample wa_sample_of(WaGradient gradient, WaCells cells) {
  const WA_REAL c = WA_NUMBER(cells.cosine);
  const WA_REAL s = WA_NUMBER(cells.sine);
  const WA_REAL u = WA_FMA(c, gradient.x, s * gradient.y) / cells.cell;
  const WA_REAL v = WA_FMA(c, gradient.y, -s * gradient.x) / cells.cell;
  const WA_REAL turns = gradient.turns - cells.rotated;
  WaSample sample;
  sample.column = u + 0.5f * (float)(CELLS - 1);
  sample.row = v + 0.5f * (float)(CELLS - 1);
  sample.direction = (turns - WA_FLOOR(turns)) * (float)DIRECTIONS;
  sample.length = gradient.length * WA_EXP(-WA_FMA(u, u, v * v) * (2.0f / (float)(CELLS * CELLS)));
  return sample;
}

// The weight of a sample at distance `apart` from the middle of a bin.
WA_INLINE WA_REAL wa_bin_weight(WA_REAL apart) {
  const WA_REAL share = 1.0f - WA_FABS(apart);
  return share > 0.0f ? share : WA_NUMBER(0.0f);
}

// The weight along the orientation axis, which is periodic.
WA_INLINE WA_REAL wa_orientation_weight(WA_REAL apart) {
  const WA_REAL size = WA_FABS(apart);
  const WA_REAL around = (float)DIRECTIONS - size;
  return wa_bin_weight(size < around ? size : around);
}

WA_INLINE float wa_most_of_bin(float squares) { return MAX_PART * WA_SQRT(squares); }

// An element of the descriptor, from the bin and the sum of all bins.
WA_INLINE WA_REAL wa_of_bin(WA_REAL bin, float sum) {
  return WA_SQRT(bin / (sum > 1e-30f ? sum : 1e-30f));
}

#endif

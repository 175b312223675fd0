// The truncated cubic prefilter with 15 taps (Champagnat and Le Sant, equation 12) by running sums.
// On either side, its taps are powers of the pole up to the seventh, so that the sum over eight
// samples follows from the previous one, or from sums over four. z[k] are the powers, up to the
// eighth.
//
// Neighbouring work-items, called lanes, filter a row. Each lane has four of its pixels.
#ifndef WARPALIGN_FORMULAS_RUNNING_SUMS_H
#define WARPALIGN_FORMULAS_RUNNING_SUMS_H

#include "formulas/language.h"

// Partial sums of a lane's four pixels: sum[n - 1] is over the last n of them, the k-th from the
// end (from 0 on) times z^k.
WA_INLINE void wa_lane_sums(float first, float second, float third, float last, const float* z,
                            float* sum) {
  sum[0] = last;
  sum[1] = WA_FMA(z[1], third, sum[0]);
  sum[2] = WA_FMA(z[2], second, sum[1]);
  sum[3] = WA_FMA(z[3], first, sum[2]);
}

// The sums over the pixels before a lane's first one that are within reach: pixel j reaches 7 - j
// of them. `whole` is the sum over the previous lane; part[n - 1] is the sum over the last n pixels
// of the lane before that, for n = 1, 2, 3.
WA_INLINE void wa_reached_sums(float whole, const float* part, const float* z, float* reached) {
#pragma unroll
  for (int j = 0; j < 3; ++j) reached[j] = WA_FMA(z[4], part[2 - j], whole);
  reached[3] = whole;
}

// Filters a lane's four pixels v in place. before[j] and after[3 - j] are the reached sums of pixel
// j.
WA_INLINE void wa_running_row(float* v, const float* before, const float* after, const float* z) {
  float result[4];
  float run = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    run = WA_FMA(z[1], run, v[j]);
    result[j] = WA_FMA(z[j + 1], before[j], run);
  }
  run = 0.0f;
#pragma unroll
  for (int j = 3; j >= 0; --j) {
    result[j] = WA_FMA(z[4 - j], after[3 - j], WA_FMA(z[1], run, result[j]));
    run = WA_FMA(z[1], run, v[j]);
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) v[j] = result[j];
}

// Takes the next eight samples of a column and computes the results of the eight before, which
// `previous` holds. `causal` holds the running sums up to each of those. Updates both; they start
// as zeros.
WA_INLINE void wa_running_column(float* previous, float* causal, const float* samples,
                                 const float* z, float* results) {
  float below = 0.0f;  // sum over the new samples within reach
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    results[j] = j == 0 ? causal[0] : WA_FMA(z[8 - j], below, causal[j]);
    below = j == 0 ? samples[0] : WA_FMA(z[j], samples[j], below);
  }
  float run = 0.0f;
#pragma unroll
  for (int j = 7; j >= 0; --j) {
    results[j] = WA_FMA(z[1], run, results[j]);
    run = WA_FMA(z[1], run, previous[j]);
  }
  float sum = causal[7];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    sum = WA_FMA(-z[8], previous[j], WA_FMA(z[1], sum, samples[j]));
    causal[j] = sum;
    previous[j] = samples[j];
  }
}

#endif

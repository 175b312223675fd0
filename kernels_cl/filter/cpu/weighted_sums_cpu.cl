// Weighted sums of neighbouring samples along the second of three axes, for CPUs: like
// shared/weighted_sums.cl, but sixteen numbers at a time.
//
// variant: cpu
#include "formulas/weighted_sums.h"
#include "lib/simd.h"

#define AXIS                                                                                  \
  int n_input, int n_output, int inner, global const int *first, global const float *weights, \
      int taps, global const float *added

// The address of sample `k` after the first one of a sum, of neighbouring numbers from `x` on.
WA_INLINE global const float* sample(global const float* array, int start, int k, int n_input,
                                     int inner, int x) {
  const int at = start + k < n_input ? start + k : start + k - n_input;
  return array + (size_t)at * (size_t)inner + (size_t)x;
}

// Sum i of up to sixteen neighbouring numbers.
WA_INLINE float16 sum_of_sixteen(global const float* array, int i, int x, int count, AXIS) {
  float16 sum = added[i];
  for (int k = 0; k < taps; ++k) {
    sum = fma((float16)(weights[(size_t)k * (size_t)n_output + i]),
              load_some(sample(array, first[i], k, n_input, inner, x), count), sum);
  }
  return sum;
}

// Adds `weight` times 32 numbers to a sum.
#define ADD(sum, weight)                                 \
  sum##_left = fma((float16)(weight), left, sum##_left); \
  sum##_right = fma((float16)(weight), right, sum##_right);

// Sums i and i + 1 of 32 neighbouring numbers. They load the samples that both of them add once.
WA_INLINE void sum_two(global const float* array, int i, int x, AXIS, global float* target) {
  float16 upper_left = added[i], upper_right = upper_left;
  float16 lower_left = added[i + 1], lower_right = lower_left;
  const int ahead = first[i + 1] - first[i];
  global const float* at = array + (size_t)first[i] * (size_t)inner + (size_t)x;
  global const float* upper = weights + i;
  global const float* lower = weights + i + 1;
  for (int k = 0; k < taps + ahead; ++k) {
    const float16 left = vload16(0, at);
    const float16 right = vload16(1, at);
    if (k < taps) {
      ADD(upper, *upper)
      upper += n_output;
    }
    if (k >= ahead) {
      ADD(lower, *lower)
      lower += n_output;
    }
    at += inner;
  }
  global float* to = target + (size_t)i * (size_t)inner + (size_t)x;
  vstore16(upper_left, 0, to);
  vstore16(upper_right, 1, to);
  vstore16(lower_left, 0, to + inner);
  vstore16(lower_right, 1, to + inner);
}

// Sums `from` to `end` of the neighbouring numbers start to stop - 1. All of them are loaded from a
// sample before the next pair of sums: processors then load ahead.
WA_INLINE void sum_across(global const float* array, int from, int end, int start, int stop, AXIS,
                          global float* target) {
  int i = from;
#pragma unroll 1
  while (i < end) {
    const int next = min(i + 1, end - 1);
    const int ahead = first[next] - first[i];
    const bool two = next > i && ahead >= 0 && ahead < taps && first[next] + taps <= n_input;
    int x = start;
#pragma unroll 1
    for (; two && x + 32 <= stop; x += 32) {
      sum_two(array, i, x, n_input, n_output, inner, first, weights, taps, added, target);
    }
#pragma unroll 1
    for (int number = i; number <= (two ? next : i); ++number) {
      for (int part = x; part < stop; part += 16) {
        store_some(sum_of_sixteen(array, number, part, stop - part, n_input, n_output, inner, first,
                                  weights, taps, added),
                   stop - part, target + (size_t)number * (size_t)inner + (size_t)part);
      }
    }
    i += two ? 2 : 1;
  }
}

// Sums `from` to `end` of a line, whose samples are `inner` numbers apart.
WA_INLINE void sum_along(global const float* line, int from, int end, AXIS, global float* target) {
#pragma unroll 1
  for (int i = from; i < end; i += 16) {
    const int count = min(16, end - i);
    const int16 start = count < 16 ? (int16)(0) : vload16(0, first + i);
    if (count == 16 && start.s0 <= start.sf && start.sf + taps <= n_input) {
      float16 sum = vload16(0, added + i);
      global const float* weight = weights + i;
      for (int k = 0; k < taps; ++k) {
        sum = fma(vload16(0, weight), gather(line, (start + k) * inner), sum);
        weight += n_output;
      }
      if (inner == 1) {
        vstore16(sum, 0, target + i);
      } else {
        for (int lane = 0; lane < 16; ++lane) {
          target[(size_t)(i + lane) * (size_t)inner] = ((const float*)&sum)[lane];
        }
      }
      continue;
    }
    for (int at = i; at < i + count; ++at) {
      float sum = added[at];
      for (int k = 0; k < taps; ++k) {
        sum = fma(weights[(size_t)k * (size_t)n_output + at],
                  *sample(line, first[at], k, n_input, inner, 0), sum);
      }
      target[(size_t)at * (size_t)inner] = sum;
    }
  }
}

// The columns that a block of sixteen lines may span.
#define SPAN 256

// Sums i to i + 15 of up to sixteen lines of single numbers, one below the other: transposes the
// lines, so that each sum adds vectors of the sixteen lines. Returns false, and does nothing, if
// the samples are too far apart or continue at the first one.
WA_INLINE bool sum_lines(global const float* array, int lines, int i, AXIS, global float* target) {
  const int last = min(i + 15, n_output - 1);
  const int start = first[i] & ~15;
  const int end = first[last] + taps;
  if (end > n_input || end - start > SPAN) return false;
  for (int k = i; k < last; ++k) {
    if (first[k] > first[k + 1]) return false;
  }
  float16 columns[SPAN];
  float16 sums[16];
#pragma unroll 1
  for (int x = start; x < end; x += 16) {
#pragma unroll 1
    for (int line = 0; line < 16; ++line) {
      columns[x - start + line] = load_some(
          array + (size_t)min(line, lines - 1) * (size_t)n_input + (size_t)x, n_input - x);
    }
    transpose(columns + (x - start));
  }
#pragma unroll 1
  for (int k = 0; k < 16; ++k) {
    const int number = min(i + k, last);
    const float16* samples = columns + (first[number] - start);
    global const float* weight = weights + number;
    float16 sum = added[number];
    for (int tap = 0; tap < taps; ++tap) {
      sum = fma((float16)(*weight), samples[tap], sum);
      weight += n_output;
    }
    sums[k] = sum;
  }
  transpose(sums);
#pragma unroll 1
  for (int line = 0; line < lines; ++line) {
    store_some(sums[line], last - i + 1, target + (size_t)line * (size_t)n_output + (size_t)i);
  }
  return true;
}

SIMD_KERNEL weighted_sums(
    global const float* input, int outer, int n_input, int n_output, int inner,
    global const int* first, global const float* weights, int taps, global const float* added,
    global float* output) {
  const size_t in_array = (size_t)n_input * (size_t)inner;
  const size_t in_output = (size_t)n_output * (size_t)inner;
  const size_t column = get_global_id(0);
  const size_t row = get_global_id(1);
  if (inner >= WA_SUMS_VECTOR) {
    const size_t blocks = ((size_t)n_output + WA_SUMS_ROWS - 1) / WA_SUMS_ROWS;
    const size_t array = row / blocks;
    const int from = (int)(row - array * blocks) * WA_SUMS_ROWS;
    const int x = (int)column * WA_SUMS_COLUMNS;
    sum_across(input + array * in_array, from, min(from + WA_SUMS_ROWS, n_output), x,
               min(x + WA_SUMS_COLUMNS, inner), n_input, n_output, inner, first, weights, taps,
               added, output + array * in_output);
    return;
  }
  const int from = (int)column * WA_SUMS_OF_LINE;
  const int end = min(from + WA_SUMS_OF_LINE, n_output);
  const int lines = (int)min((size_t)outer - row * WA_SUMS_LINES, (size_t)WA_SUMS_LINES);
  const size_t top = row * WA_SUMS_LINES;
  for (int i = from; i < end; i += 16) {
    if (inner == 1 && lines > 3 &&
        sum_lines(input + top * in_array, lines, i, n_input, n_output, inner, first, weights, taps,
                  added, output + top * in_output)) {
      continue;
    }
#pragma unroll 1
    for (int line = 0; line < lines * inner; ++line) {
      const size_t array = top + (size_t)(line / inner);
      sum_along(input + array * in_array + line % inner, i, min(i + 16, end), n_input, n_output,
                inner, first, weights, taps, added, output + array * in_output + line % inner);
    }
  }
}
#undef SPAN
#undef ADD
#undef AXIS

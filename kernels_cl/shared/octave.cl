// Gaussian smoothing of planes of several sizes that lie one behind the other: along rows, then
// along columns. Two kernels do this, each of which can compute only every `step`-th pixel; or, for
// a short Gaussian, one kernel in which a work-group shares its input. Another kernel copies pixels
// without smoothing.
//
// Options: COLUMNS and ROWS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=32 -DROWS=8
#include "shared/kernel_language.h"

#include "formulas/features.h"

// The position of a work-item among `columns` of a plane; row y of work-groups is plane y.
#define WA_FIND_PIXEL(columns)                                            \
  const int groups = ((columns) + COLUMNS - 1) / COLUMNS;                 \
  const int row_of_groups = WA_GROUP_X / groups;                          \
  const int x = (WA_GROUP_X - row_of_groups * groups) * COLUMNS + WA_ITEM_X; \
  const int y = row_of_groups * ROWS + WA_ITEM_Y;

// The result has as many rows as the source, and begins where the source's plane begins.
WA_KERNEL(COLUMNS, ROWS)
octave_rows(WA_GLOBAL const float* source, int first_of_source, WA_GLOBAL const int* source_planes,
            WA_GLOBAL const int* planes, int step, WA_GLOBAL const float* weights,
            int first_weight, int radius, WA_GLOBAL float* between) {
  WA_BEGIN();
  WA_GLOBAL const int* from = source_planes + WA_GROUP_Y * WA_PLANE_WORDS;
  const int columns = planes[WA_GROUP_Y * WA_PLANE_WORDS + 1];
  WA_FIND_PIXEL(columns)
  if (x >= columns || y >= from[2]) return;
  WA_GLOBAL const float* row = source + first_of_source + from[0] + y * from[1];
  WA_GLOBAL const float* weight = weights + first_weight + radius;
  float sum = 0.0f;
  for (int i = -radius; i <= radius; ++i) {
    sum = WA_FMA(weight[i], row[wa_within(x * step + i, from[1])], sum);
  }
  between[from[0] + y * columns + x] = sum;
}

WA_KERNEL(COLUMNS, ROWS)
octave_columns(WA_GLOBAL const float* between, WA_GLOBAL const int* source_planes,
               WA_GLOBAL const int* planes, int step, WA_GLOBAL const float* weights,
               int first_weight, int radius, WA_GLOBAL float* octave, int first_of_image) {
  WA_BEGIN();
  WA_GLOBAL const int* from = source_planes + WA_GROUP_Y * WA_PLANE_WORDS;
  WA_GLOBAL const int* to = planes + WA_GROUP_Y * WA_PLANE_WORDS;
  WA_FIND_PIXEL(to[1])
  if (x >= to[1] || y >= to[2]) return;
  WA_GLOBAL const float* column = between + from[0] + x;
  WA_GLOBAL const float* weight = weights + first_weight + radius;
  float sum = 0.0f;
  for (int i = -radius; i <= radius; ++i) {
    sum = WA_FMA(weight[i], column[wa_within(y * step + i, from[2]) * to[1]], sum);
  }
  octave[first_of_image + to[0] + y * to[1] + x] = sum;
}

// Copies every `step`-th pixel of the source.
WA_KERNEL(COLUMNS, ROWS)
octave_taken(WA_GLOBAL const float* source, int first_of_source, WA_GLOBAL const int* source_planes,
             WA_GLOBAL const int* planes, int step, WA_GLOBAL float* octave) {
  WA_BEGIN();
  WA_GLOBAL const int* from = source_planes + WA_GROUP_Y * WA_PLANE_WORDS;
  WA_GLOBAL const int* to = planes + WA_GROUP_Y * WA_PLANE_WORDS;
  WA_FIND_PIXEL(to[1])
  if (x >= to[1] || y >= to[2]) return;
  octave[to[0] + y * to[1] + x] = source[first_of_source + from[0] + step * (y * from[1] + x)];
}

// A work-item computes several neighbouring smoothed pixels of a row, or of a column. It adds a
// multiple of each pixel that it reads from local memory to several sums. The weights for this move
// on by one from pixel to pixel.
#define ROW_SUMS 8
#define COLUMN_SUMS WA_ROWS_AN_ITEM
#define TILE_ROWS (COLUMN_SUMS * ROWS)
#define MAX_RADIUS WA_OCTAVE_MAX_RADIUS
// The number of pixels to read for that many sums: those of all their taps, rounded up. Weights
// beyond the taps are 0.
#define WA_STEPS(taps, sums) (((taps) + (sums) - 1 + (sums) - 1) / (sums) * (sums))
#define MAX_TAPS (2 * MAX_RADIUS + 1)
#define TILE_WIDTH (COLUMNS - ROW_SUMS + WA_STEPS(MAX_TAPS, ROW_SUMS))
#define TILE_HEIGHT (TILE_ROWS - COLUMN_SUMS + WA_STEPS(MAX_TAPS, COLUMN_SUMS))
#define LOADED_ROWS ((TILE_HEIGHT + ROWS - 1) / ROWS)
#define LOADED_COLUMNS ((TILE_WIDTH + COLUMNS - 1) / COLUMNS)

// `values` are `apart` from one another.
#define WA_SMOOTH(sums, number, steps, weight, values, apart)                          \
  float sums[number];                                                                  \
  {                                                                                    \
    float factors[number];                                                             \
    WA_UNROLL                                                                          \
    for (int t = 0; t < number; ++t) sums[t] = factors[t] = 0.0f;                      \
    for (int first = 0; first < (steps); first += number) {                            \
      WA_UNROLL                                                                        \
      for (int k = 0; k < number; ++k) {                                               \
        factors[k] = weight[first + k];                                                \
        const float value = values[(first + k) * (apart)];                             \
        WA_UNROLL                                                                      \
        for (int t = 0; t < number; ++t) {                                             \
          sums[t] = WA_FMA(factors[(k - t + number) % number], value, sums[t]);        \
        }                                                                              \
      }                                                                                \
    }                                                                                  \
  }

// Each work-group smooths COLUMNS by TILE_ROWS pixels.
WA_KERNEL(COLUMNS, ROWS)
octave_image(WA_GLOBAL const float* source, int first_of_source, WA_GLOBAL const int* planes,
             WA_GLOBAL const float* weights, int first_weight, int radius, WA_GLOBAL float* octave,
             int first_of_image) {
  WA_BEGIN();
  // Rows of odd lengths, so that work-items of different rows use different banks.
  WA_LOCAL float tile[TILE_HEIGHT][TILE_WIDTH + 1];
  WA_LOCAL float between[TILE_HEIGHT][COLUMNS + 1];
  WA_LOCAL float weight[WA_STEPS(MAX_TAPS, ROW_SUMS)];
  WA_GLOBAL const int* plane = planes + WA_GROUP_Y * WA_PLANE_WORDS;
  const int width = plane[1];
  const int height = plane[2];
  const int groups = (width + COLUMNS - 1) / COLUMNS;
  const int row_of_groups = WA_GROUP_X / groups;
  const int first_x = (WA_GROUP_X - row_of_groups * groups) * COLUMNS;
  const int first_y = row_of_groups * TILE_ROWS;
  if (first_y >= height) return;  // as does the whole work-group
  const int item = WA_ITEM_Y * COLUMNS + WA_ITEM_X;
  const int taps = 2 * radius + 1;
  const int steps_along_row = WA_STEPS(taps, ROW_SUMS);
  const int steps_along_column = WA_STEPS(taps, COLUMN_SUMS);
  const int tile_width = COLUMNS - ROW_SUMS + steps_along_row;
  const int tile_height = TILE_ROWS - COLUMN_SUMS + steps_along_column;
  WA_GLOBAL const float* from = source + first_of_source + plane[0];
  for (int k = item; k < WA_STEPS(MAX_TAPS, ROW_SUMS); k += COLUMNS * ROWS) {
    weight[k] = k < taps ? weights[first_weight + k] : 0.0f;
  }
  // All loads come before the first store, so that a work-item waits for memory once.
  float loaded[LOADED_ROWS][LOADED_COLUMNS];
  WA_UNROLL
  for (int r = 0; r < LOADED_ROWS; ++r) {
    const int j = WA_ITEM_Y + r * ROWS;
    WA_GLOBAL const float* row = from + wa_within(first_y - radius + j, height) * width;
    WA_UNROLL
    for (int c = 0; c < LOADED_COLUMNS; ++c) {
      const int i = WA_ITEM_X + c * COLUMNS;
      if (j < tile_height && i < tile_width) {
        loaded[r][c] = row[wa_within(first_x - radius + i, width)];
      }
    }
  }
  WA_UNROLL
  for (int r = 0; r < LOADED_ROWS; ++r) {
    WA_UNROLL
    for (int c = 0; c < LOADED_COLUMNS; ++c) {
      const int j = WA_ITEM_Y + r * ROWS;
      const int i = WA_ITEM_X + c * COLUMNS;
      if (j < tile_height && i < tile_width) tile[j][i] = loaded[r][c];
    }
  }
  WA_BARRIER();
  for (int k = item; k < tile_height * (COLUMNS / ROW_SUMS); k += COLUMNS * ROWS) {
    const int j = k / (COLUMNS / ROW_SUMS);
    const int i = k % (COLUMNS / ROW_SUMS) * ROW_SUMS;
    WA_SMOOTH(sums, ROW_SUMS, steps_along_row, weight, (&tile[j][i]), 1)
    WA_UNROLL
    for (int t = 0; t < ROW_SUMS; ++t) between[j][i + t] = sums[t];
  }
  WA_BARRIER();
  const int x = first_x + WA_ITEM_X;
  if (x >= width) return;
  const int j = WA_ITEM_Y * COLUMN_SUMS;
  WA_SMOOTH(sums, COLUMN_SUMS, steps_along_column, weight, (&between[j][WA_ITEM_X]), COLUMNS + 1)
  WA_GLOBAL float* to = octave + first_of_image + plane[0] + (first_y + j) * width + x;
  WA_UNROLL
  for (int t = 0; t < COLUMN_SUMS; ++t) {
    if (first_y + j + t < height) to[t * width] = sums[t];
  }
}
#undef WA_SMOOTH
#undef WA_STEPS
#undef WA_FIND_PIXEL

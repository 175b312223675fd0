// Gaussian smoothing of planes of several sizes that lie one behind the other: along rows, then along
// columns. By two kernels, each of which can take every `step`-th pixel only; or by one, where the
// Gaussian is so short that a work-group can share what it reads.
//
// Options: COLUMNS and ROWS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=32 -DROWS=8
#include "shared/kernel_language.h"

#include "formulas/features.h"

// Where a work-item is among `columns` of a plane; row y of work-groups is plane y.
#define WA_FIND_PIXEL(columns)                                            \
  const int groups = ((columns) + COLUMNS - 1) / COLUMNS;                 \
  const int row_of_groups = WA_GROUP_X / groups;                          \
  const int x = (WA_GROUP_X - row_of_groups * groups) * COLUMNS + WA_ITEM_X; \
  const int y = row_of_groups * ROWS + WA_ITEM_Y;

// The rows of the result are as many as those of the source, and lie where the source's plane begins.
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

#define TILE_ROWS (4 * ROWS)
#define MAX_RADIUS WA_OCTAVE_MAX_RADIUS

// Each work-group smooths COLUMNS by TILE_ROWS pixels.
WA_KERNEL(COLUMNS, ROWS)
octave_image(WA_GLOBAL const float* source, int first_of_source, WA_GLOBAL const int* planes,
             WA_GLOBAL const float* weights, int first_weight, int radius, WA_GLOBAL float* octave,
             int first_of_image) {
  WA_BEGIN();
  WA_LOCAL float tile[TILE_ROWS + 2 * MAX_RADIUS][COLUMNS + 2 * MAX_RADIUS];
  WA_LOCAL float between[TILE_ROWS + 2 * MAX_RADIUS][COLUMNS];
  // Three more than the longest Gaussian has: compilers load several at once.
  WA_LOCAL float weight[2 * MAX_RADIUS + 4];
  WA_GLOBAL const int* plane = planes + WA_GROUP_Y * WA_PLANE_WORDS;
  const int width = plane[1];
  const int height = plane[2];
  const int groups = (width + COLUMNS - 1) / COLUMNS;
  const int row_of_groups = WA_GROUP_X / groups;
  const int first_x = (WA_GROUP_X - row_of_groups * groups) * COLUMNS;
  const int first_y = row_of_groups * TILE_ROWS;
  if (first_y >= height) return;  // as does the whole work-group
  const int taps = 2 * radius + 1;
  WA_GLOBAL const float* from = source + first_of_source + plane[0];
  for (int k = WA_ITEM_Y * COLUMNS + WA_ITEM_X; k < taps; k += COLUMNS * ROWS) {
    weight[k] = weights[first_weight + k];
  }
  for (int j = WA_ITEM_Y; j < TILE_ROWS + 2 * radius; j += ROWS) {
    WA_GLOBAL const float* row = from + wa_within(first_y - radius + j, height) * width;
    for (int i = WA_ITEM_X; i < COLUMNS + 2 * radius; i += COLUMNS) {
      tile[j][i] = row[wa_within(first_x - radius + i, width)];
    }
  }
  WA_BARRIER();
  for (int j = WA_ITEM_Y; j < TILE_ROWS + 2 * radius; j += ROWS) {
    float sum = 0.0f;
    for (int k = 0; k < taps; ++k) sum = WA_FMA(weight[k], tile[j][WA_ITEM_X + k], sum);
    between[j][WA_ITEM_X] = sum;
  }
  WA_BARRIER();
  const int x = first_x + WA_ITEM_X;
  if (x >= width) return;
  for (int j = WA_ITEM_Y; j < TILE_ROWS && first_y + j < height; j += ROWS) {
    float sum = 0.0f;
    for (int k = 0; k < taps; ++k) sum = WA_FMA(weight[k], between[j + k][WA_ITEM_X], sum);
    octave[first_of_image + plane[0] + (first_y + j) * width + x] = sum;
  }
}
#undef WA_FIND_PIXEL

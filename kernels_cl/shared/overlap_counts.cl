// The number of overlapping pixels of two images at every shift. One of them is a rectangle without
// a mask: the overlap is the sum of the other image's weights over the rectangle at every position,
// down the columns first and then along the rows. All sums are of integers and exact.
//
// Options: LINES, the lines per work-group; LANES, the work-items per line; MAX_EXTENT, the longest
// line.
//
// variant: gpu -DLINES=8 -DLANES=32 -DMAX_EXTENT=512
#include "shared/kernel_language.h"

#include "formulas/overlap.h"

// Replaces the first n numbers of each line by the sum of those before it, and number n by the
// total. A line's work-items, with their number in `lane`, process equal parts of it.
#define SUM_UP_LINES(line, lane, n)                                      \
  const int part = ((n) + LANES - 1) / LANES;                            \
  const int end = min((lane + 1) * part, n);                             \
  unsigned sum = 0;                                                      \
  WA_BARRIER();                                                          \
  for (int i = lane * part; i < end; ++i) {                              \
    const unsigned number = before[line][i];                             \
    before[line][i] = sum;                                               \
    sum += number;                                                       \
  }                                                                      \
  totals[line][lane] = sum;                                              \
  WA_BARRIER();                                                          \
  unsigned of_others = 0;                                                \
  for (int i = 0; i < lane; ++i) of_others += totals[line][i];           \
  for (int i = lane * part; i < end; ++i) before[line][i] += of_others;  \
  if (lane == LANES - 1) before[line][n] = of_others + sum;              \
  WA_BARRIER();

// The sum of `count` numbers from number i on, periodically.
#define SUM_FROM(line, i, count, n)                                           \
  ((i) + (count) <= (n) ? before[line][(i) + (count)] - before[line][i]       \
                        : before[line][n] - before[line][i] + before[line][(i) + (count) - (n)])

// Writes to each pixel the sum over `rows` pixels from it on, down its column, periodically.
WA_KERNEL(LINES, LANES)
overlap_columns(WA_GLOBAL const float* weights, int width, int height, int rows,
                WA_GLOBAL unsigned* sums) {
  WA_BEGIN();
  WA_LOCAL unsigned before[LINES][MAX_EXTENT + 1];
  WA_LOCAL unsigned totals[LINES][LANES];
  const int line = WA_ITEM_X;
  const int lane = WA_ITEM_Y;
  const int x = WA_GROUP_X * LINES + line;
  const WA_UINT64 first = (WA_UINT64)WA_GROUP_Y * width * height + x;
  for (int y = lane; y < height; y += LANES) {
    before[line][y] =
        x < width ? (unsigned)(WA_FMA(weights[first + (WA_UINT64)y * width], WA_OVERLAP_UNIT, 0.5f))
                  : 0u;
  }
  SUM_UP_LINES(line, lane, height)
  if (x >= width) return;
  for (int y = lane; y < height; y += LANES) {
    sums[first + (WA_UINT64)y * width] = SUM_FROM(line, y, rows, height);
  }
}

// The sum S(p) over the rectangle at p is the straight overlap at shift p, or at shift -p if the
// rectangle belongs to the first image. It is the mirrored overlap at the shift at which the
// rectangle ends. `scale` converts to pixels.
WA_KERNEL(LANES, LINES)
overlap_rows(WA_GLOBAL const unsigned* sums, int width, int height, int columns, int rows,
             int is_first, float scale, WA_GLOBAL float* overlaps) {
  WA_BEGIN();
  WA_LOCAL unsigned before[LINES][MAX_EXTENT + 1];
  WA_LOCAL unsigned totals[LINES][LANES];
  const int line = WA_ITEM_Y;
  const int lane = WA_ITEM_X;
  const int y = WA_GROUP_X * LINES + line;
  const WA_UINT64 plane = (WA_UINT64)width * height;
  WA_GLOBAL const unsigned* row = sums + WA_GROUP_Y * plane + (WA_UINT64)y * width;
  for (int x = lane; x < width; x += LANES) before[line][x] = y < height ? row[x] : 0u;
  SUM_UP_LINES(line, lane, width)
  if (y >= height) return;
  const float unit = scale * (1.0f / WA_OVERLAP_UNIT);
  const int straight_y = is_first == 0 || y == 0 ? y : height - y;
  const int mirrored_y = y + rows - 1 < height ? y + rows - 1 : y + rows - 1 - height;
  WA_GLOBAL float* straight = overlaps + WA_GROUP_Y * 2 * plane + (WA_UINT64)straight_y * width;
  WA_GLOBAL float* mirrored = overlaps + (WA_GROUP_Y * 2 + 1) * plane + (WA_UINT64)mirrored_y * width;
  for (int x = lane; x < width; x += LANES) {
    const float sum = (float)SUM_FROM(line, x, columns, width) * unit;
    straight[is_first == 0 || x == 0 ? x : width - x] = sum;
    mirrored[x + columns - 1 < width ? x + columns - 1 : x + columns - 1 - width] = sum;
  }
}

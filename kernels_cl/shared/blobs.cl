// Extrema of differences of Gaussians (Lowe 2004) in the images of an octave, for planes of several
// sizes that lie one behind the other.
//
// Options: COLUMNS and ROWS, the size of the work-group; COLUMNS ROWS is a power of two.
//
// variant: gpu -DCOLUMNS=32 -DROWS=8
// variant: cpu -DCOLUMNS=64 -DROWS=1
#include "shared/blob_tests.h"
#include "shared/group_sum.h"

#define GROUP (COLUMNS * ROWS)
#define DEVIATION_STEP 8

// One work-group for each plane. The mean is subtracted before squaring.
WA_KERNEL(COLUMNS, ROWS)
deviations(WA_GLOBAL const float* octave, WA_GLOBAL const int* planes,
           WA_GLOBAL float* deviations_of_planes) {
  WA_BEGIN();
  WA_LOCAL float sums[GROUP];
  WA_GLOBAL const int* plane = planes + WA_GROUP_X * WA_PLANE_WORDS;
  WA_GLOBAL const float* pixels = octave + plane[0];
  const int item = WA_ITEM_Y * COLUMNS + WA_ITEM_X;
  const int columns = (plane[1] + DEVIATION_STEP - 1) / DEVIATION_STEP;
  const int rows = (plane[2] + DEVIATION_STEP - 1) / DEVIATION_STEP;
  float sum = 0.0f;
  for (int y = WA_ITEM_Y; y < rows; y += ROWS) {
    for (int x = WA_ITEM_X; x < columns; x += COLUMNS) {
      sum += pixels[DEVIATION_STEP * (y * plane[1] + x)];
    }
  }
  WA_ADD_UP(sums, item, GROUP, sum)
  const float mean = sum / (float)(columns * rows);
  float squares = 0.0f;
  for (int y = WA_ITEM_Y; y < rows; y += ROWS) {
    for (int x = WA_ITEM_X; x < columns; x += COLUMNS) {
      const float apart = pixels[DEVIATION_STEP * (y * plane[1] + x)] - mean;
      squares = WA_FMA(apart, apart, squares);
    }
  }
  WA_ADD_UP(sums, item, GROUP, squares)
  if (item == 0) deviations_of_planes[WA_GROUP_X] = WA_SQRT(squares / (float)(columns * rows));
}

// The area that a work-group tests: COLUMNS by TILE_ROWS pixels, plus a border of one pixel.
#define TILE_ROWS (WA_ROWS_AN_ITEM * ROWS)
#define TILE_WIDTH (COLUMNS + 2)
#define TILE (TILE_WIDTH * (TILE_ROWS + 2))
#define LOADS ((TILE + GROUP - 1) / GROUP)  // of an image, by each work-item

// The differences around a pixel, from those of three successive scales.
WA_INLINE WaDifferences wa_differences_about(WA_IN_LOCAL const float* before,
                                             WA_IN_LOCAL const float* here,
                                             WA_IN_LOCAL const float* after) {
  WaDifferences d;
  WA_UNROLL
  for (int v = -1; v <= 1; ++v) {
    WA_UNROLL
    for (int u = -1; u <= 1; ++u) {
      WA_DIFFERENCE(d, -1, v, u) = before[v * TILE_WIDTH + u];
      WA_DIFFERENCE(d, 0, v, u) = here[v * TILE_WIDTH + u];
      WA_DIFFERENCE(d, 1, v, u) = after[v * TILE_WIDTH + u];
    }
  }
  return d;
}

// Row y of work-groups is plane y. Images are `apart` pixels from one another. The kernel keeps the
// differences of three scales; the next one replaces the oldest.
WA_KERNEL(COLUMNS, ROWS)
blobs(WA_GLOBAL const float* octave, WA_GLOBAL const int* planes,
      WA_GLOBAL const float* deviations_of_planes, float least_contrast, int images, int apart,
      int number, int capacity, WA_GLOBAL int* count, WA_GLOBAL WaBlob* found) {
  WA_BEGIN();
  WA_LOCAL float differences[3][TILE];
  WA_GLOBAL const int* plane = planes + WA_GROUP_Y * WA_PLANE_WORDS;
  const int width = plane[1];
  const int height = plane[2];
  const int columns = (width + COLUMNS - 1) / COLUMNS;
  const int row_of_groups = WA_GROUP_X / columns;
  const int first_x = (WA_GROUP_X - row_of_groups * columns) * COLUMNS;
  const int first_y = row_of_groups * TILE_ROWS;
  if (first_y >= height) return;  // as does the whole work-group
  const float least = least_contrast * deviations_of_planes[WA_GROUP_Y];
  const int item = WA_ITEM_Y * COLUMNS + WA_ITEM_X;
  int pixels[LOADS];
  float last[LOADS];
  float next[LOADS];
  WA_UNROLL
  for (int k = 0; k < LOADS; ++k) {
    const int at = item + k * GROUP;
    const int x = wa_within(first_x - 1 + at % TILE_WIDTH, width);
    const int y = wa_within(first_y - 1 + at / TILE_WIDTH, height);
    pixels[k] = plane[0] + y * width + x;
    last[k] = octave[pixels[k]];
    next[k] = octave[apart + pixels[k]];
  }
  for (int image = 0; image + 1 < images; ++image) {
    WA_UNROLL
    for (int k = 0; k < LOADS; ++k) {
      const int at = item + k * GROUP;
      if (at < TILE) differences[image % 3][at] = next[k] - last[k];
      last[k] = next[k];
      // Loads now what it needs after it has tested these differences.
      if (image + 2 < images) next[k] = octave[(image + 2) * apart + pixels[k]];
    }
    WA_BARRIER();
    const int x = first_x + WA_ITEM_X;
    for (int r = 0; image >= 2 && r < WA_ROWS_AN_ITEM; ++r) {
      const int row = WA_ITEM_Y + r * ROWS;
      const int y = first_y + row;
      if (x < MARGIN || x >= width - MARGIN || y < MARGIN || y >= height - MARGIN) continue;
      const int at = (row + 1) * TILE_WIDTH + WA_ITEM_X + 1;
      WA_IN_LOCAL const float* before = differences[(image - 2) % 3] + at;
      WA_IN_LOCAL const float* here = differences[(image - 1) % 3] + at;
      WA_IN_LOCAL const float* after = differences[image % 3] + at;
      // Most pixels fail a test that needs few neighbours. Only the rest go through all tests.
      if (!(WA_FABS(here[0]) >= least) || wa_is_exceeded(here[0], before[0], after[0])) continue;
      if (wa_is_exceeded(here[0], here[-1], here[1])) continue;
      if (wa_is_exceeded(here[0], here[-TILE_WIDTH], here[TILE_WIDTH])) continue;
      const WaDifferences about = wa_differences_about(before, here, after);
      if (!wa_is_blob(about, least)) continue;
      const int place = WA_COUNT_ON(count);
      if (place < capacity) found[place] = wa_blob_at(about, x, y, image - 1, WA_GROUP_Y, number);
    }
    WA_BARRIER();
  }
}
#undef GROUP

// Extrema of differences of Gaussians (Lowe 2004) in the images of an octave, of planes of several sizes
// that lie one behind the other.
//
// Options: COLUMNS and ROWS, the size of the work-group; COLUMNS ROWS is a power of two.
//
// variant: gpu -DCOLUMNS=32 -DROWS=8
// variant: cpu -DCOLUMNS=64 -DROWS=1
#include "shared/blob_tests.h"
#include "shared/group_sum.h"

#define GROUP (COLUMNS * ROWS)
#define DEVIATION_STEP 8

// One work-group for each plane. The mean is subtracted before squares are added up.
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

// Row y of work-groups is plane y. Images are `apart` pixels from one another.
WA_KERNEL(COLUMNS, ROWS)
blobs(WA_GLOBAL const float* octave, WA_GLOBAL const int* planes,
      WA_GLOBAL const float* deviations_of_planes, float least_contrast, int images, int apart,
      int number, int capacity, WA_GLOBAL int* count, WA_GLOBAL WaBlob* found) {
  WA_BEGIN();
  WA_GLOBAL const int* plane = planes + WA_GROUP_Y * WA_PLANE_WORDS;
  const int width = plane[1];
  const int columns = (width + COLUMNS - 1) / COLUMNS;
  const int row_of_groups = WA_GROUP_X / columns;
  const int x = (WA_GROUP_X - row_of_groups * columns) * COLUMNS + WA_ITEM_X;
  const int y = row_of_groups * ROWS + WA_ITEM_Y;
  if (x < MARGIN || x >= width - MARGIN || y < MARGIN || y >= plane[2] - MARGIN) return;
  const float least = least_contrast * deviations_of_planes[WA_GROUP_Y];
  for (int image = 1; image + 2 < images; ++image) {
    WA_GLOBAL const float* at = octave + image * apart + plane[0] + y * width + x;
    if (!wa_is_blob(at, width, apart, least)) continue;
    const int place = WA_COUNT_ON(count);
    if (place >= capacity) continue;
    found[place] = wa_blob_at(at, width, apart, x, y, image, WA_GROUP_Y, number);
  }
}
#undef GROUP

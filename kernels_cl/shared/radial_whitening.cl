// Radial whitening: divides each column (radius) of a log-polar spectrum by its mean over the
// angles and subtracts 1, in place. Pixels that are 0 stay 0 and are not part of the mean.
//
// Options: COLUMNS and ROWS, the size of the work-group; ROWS is a power of two.
//
// variant: gpu -DCOLUMNS=8 -DROWS=32
#include "shared/kernel_language.h"

// A work-group processes COLUMNS radii; the ROWS work-items of a column share its angles.
WA_KERNEL(COLUMNS, ROWS)
radial_whitening(WA_GLOBAL float* image, int width, int height) {
  WA_BEGIN();
  WA_LOCAL float sums[ROWS][COLUMNS];
  WA_LOCAL float counts[ROWS][COLUMNS];
  const int column = WA_ITEM_X;
  const int row = WA_ITEM_Y;
  const int x = WA_GROUP_X * COLUMNS + column;
  float sum = 0.0f;
  float count = 0.0f;
  if (x < width) {
    for (int y = row; y < height; y += ROWS) {
      const float value = image[y * width + x];
      sum += value;
      count += value != 0.0f ? 1.0f : 0.0f;
    }
  }
  sums[row][column] = sum;
  counts[row][column] = count;
  WA_BARRIER();
  for (int half_rows = ROWS / 2; half_rows > 0; half_rows /= 2) {
    if (row < half_rows) {
      sums[row][column] += sums[row + half_rows][column];
      counts[row][column] += counts[row + half_rows][column];
    }
    WA_BARRIER();
  }
  if (x >= width || !(sums[0][column] > 0.0f)) return;
  const float one_over_mean = counts[0][column] / sums[0][column];
  for (int y = row; y < height; y += ROWS) {
    const float value = image[y * width + x];
    if (value != 0.0f) image[y * width + x] = WA_FMA(value, one_over_mean, -1.0f);
  }
}

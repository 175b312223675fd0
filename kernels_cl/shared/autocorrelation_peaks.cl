// The highest coefficient of the autocorrelation of each image in each row of shifts, away from
// (0, 0).
//
// Options: GROUP, the size of the work-group, a power of two.
//
// variant: gpu -DGROUP=128
#include "shared/kernel_language.h"

// C(d) / N(d) at the shift (x, y), which may be negative. The surface is periodic.
WA_INLINE float autocorrelation_at(WA_GLOBAL const float* surface, int columns, int rows, int width,
                                   int height, int x, int y) {
  const int column = x < 0 ? x + columns : x;
  const int row = y < 0 ? y + rows : y;
  const int common = (width - (x < 0 ? -x : x)) * (height - (y < 0 ? -y : y));
  return surface[row * columns + column] / (float)common;
}

// One work-group processes a row of shifts of one image.
WA_KERNEL(GROUP, 1)
autocorrelation_peaks(WA_GLOBAL const float* surfaces, int columns, int rows, int width, int height,
                      WA_GLOBAL float* peaks) {
  WA_BEGIN();
  WA_LOCAL float shared[GROUP];
  const int item = WA_ITEM_X;
  const int image = WA_GROUP_X / (height / 2 + 1);
  const int y = WA_GROUP_X - image * (height / 2 + 1);
  WA_GLOBAL const float* surface = surfaces + (WA_UINT64)image * columns * rows;
  const int reach = width / 2;
  float best = 0.0f;
  for (int x = item - reach; x <= reach; x += GROUP) {
    if (x * x + y * y <= 2) continue;
    const float here = autocorrelation_at(surface, columns, rows, width, height, x, y);
    if (!(here > best)) continue;
    int higher = 0;
    for (int n = 0; n < 9; ++n) {
      const float there = autocorrelation_at(surface, columns, rows, width, height, x + n % 3 - 1,
                                             y + n / 3 - 1);
      higher += there > here ? 1 : 0;
    }
    if (higher == 0) best = here;
  }
  shared[item] = best;
  WA_BARRIER();
  for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
    if (item < half_group && shared[item + half_group] > shared[item]) {
      shared[item] = shared[item + half_group];
    }
    WA_BARRIER();
  }
  if (item != 0) return;
  const float whole = autocorrelation_at(surface, columns, rows, width, height, 0, 0);
  peaks[WA_GROUP_X] = whole > 0.0f ? shared[0] / whole : 0.0f;
}

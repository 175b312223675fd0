// Cuts windows out of frames, subtracts each window's mean and multiplies it by a Hann window.
//
// Options: COLUMNS and ROWS, the size of the work-group; both are powers of two.
//
// variant: gpu -DCOLUMNS=32 -DROWS=8
#include "shared/kernel_language.h"

// Adds `value` over the work-group; all work-items get the sum.
#define ADD_UP(shared, value)                                \
  shared[item] = value;                                      \
  WA_BARRIER();                                              \
  for (int half_group = COLUMNS * ROWS / 2; half_group > 0; half_group /= 2) { \
    if (item < half_group) shared[item] += shared[item + half_group];    \
    WA_BARRIER();                                            \
  }

// A work-group cuts one window: window k of frame f is number f windows + k.
WA_KERNEL(COLUMNS, ROWS)
cut_windows(WA_GLOBAL const float* frames, int frame_width, int frame_height,
            WA_GLOBAL const int* origins, int windows, int width, int height,
            WA_GLOBAL const float* weights, WA_GLOBAL float* means, WA_GLOBAL float* output) {
  WA_BEGIN();
  WA_LOCAL float sums[COLUMNS * ROWS];
  WA_LOCAL float counts[COLUMNS * ROWS];
  const int number = WA_GROUP_X;
  const int frame = number / windows;
  const int window = number - frame * windows;
  const int item = WA_ITEM_Y * COLUMNS + WA_ITEM_X;
  WA_GLOBAL const float* pixels = frames + (WA_UINT64)frame * frame_width * frame_height +
                                  (WA_UINT64)origins[2 * window + 1] * frame_width +
                                  origins[2 * window];
  float sum = 0.0f;
  float count = 0.0f;
  for (int y = WA_ITEM_Y; y < height; y += ROWS) {
    for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
      const float value = pixels[(WA_UINT64)y * frame_width + x];
      const int finite = value - value == 0.0f;
      sum += finite ? value : 0.0f;
      count += finite ? 1.0f : 0.0f;
    }
  }
  ADD_UP(sums, sum)
  ADD_UP(counts, count)
  const float mean = counts[0] > 0.0f ? sums[0] / counts[0] : 0.0f;
  if (item == 0) means[number] = mean;
  WA_GLOBAL float* target = output + (WA_UINT64)number * width * height;
  for (int y = WA_ITEM_Y; y < height; y += ROWS) {
    const float down = weights[width + y];
    for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
      const float above = pixels[(WA_UINT64)y * frame_width + x] - mean;
      const int finite = above - above == 0.0f;
      target[y * width + x] = finite ? above * (weights[x] * down) : 0.0f;
    }
  }
}
#undef ADD_UP

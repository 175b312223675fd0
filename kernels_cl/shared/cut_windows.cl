// Cuts windows out of frames, subtracts each window's mean and multiplies it by a Hann window.
//
// `parts` work-groups share the rows of a window, so that few large windows fill a device: one
// kernel adds up the pixels of each part, and the other one, which needs the mean, writes them.
//
// Options: COLUMNS and ROWS, the size of the work-group; both are powers of two.
//
// variant: gpu -DCOLUMNS=32 -DROWS=8
#include "shared/kernel_language.h"

// Adds `value` over the work-group; all work-items get the sum.
#define ADD_UP(shared, value)                                                    \
  shared[item] = value;                                                          \
  WA_BARRIER();                                                                  \
  for (int half_group = COLUMNS * ROWS / 2; half_group > 0; half_group /= 2) {   \
    if (item < half_group) shared[item] += shared[item + half_group];            \
    WA_BARRIER();                                                                \
  }

// The upper left pixel of window `number`, which is window k of frame f: f windows + k.
WA_INLINE WA_GLOBAL const float* wa_window(WA_GLOBAL const float* frames, int frame_width,
                                           int frame_height, WA_GLOBAL const int* origins,
                                           int windows, int number) {
  const int frame = number / windows;
  const int window = number - frame * windows;
  return frames + (WA_UINT64)frame * frame_width * frame_height +
         (WA_UINT64)origins[2 * window + 1] * frame_width + origins[2 * window];
}

// `sums` gets the sum and the number of the finite pixels of each part of each window.
WA_KERNEL(COLUMNS, ROWS)
sum_windows(WA_GLOBAL const float* frames, int frame_width, int frame_height,
            WA_GLOBAL const int* origins, int windows, int width, int height, int parts,
            WA_GLOBAL float* sums) {
  WA_BEGIN();
  WA_LOCAL float values[COLUMNS * ROWS];
  WA_LOCAL float counts[COLUMNS * ROWS];
  const int number = WA_GROUP_X / parts;
  const int part = WA_GROUP_X - number * parts;
  const int item = WA_ITEM_Y * COLUMNS + WA_ITEM_X;
  WA_GLOBAL const float* pixels =
      wa_window(frames, frame_width, frame_height, origins, windows, number);
  const int end = height * (part + 1) / parts;
  float sum = 0.0f;
  float count = 0.0f;
  for (int y = height * part / parts + WA_ITEM_Y; y < end; y += ROWS) {
    for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
      const float value = pixels[(WA_UINT64)y * frame_width + x];
      const int finite = value - value == 0.0f;
      sum += finite ? value : 0.0f;
      count += finite ? 1.0f : 0.0f;
    }
  }
  ADD_UP(values, sum)
  ADD_UP(counts, count)
  if (item == 0) {
    sums[2 * WA_GROUP_X] = values[0];
    sums[2 * WA_GROUP_X + 1] = counts[0];
  }
}

WA_KERNEL(COLUMNS, ROWS)
cut_windows(WA_GLOBAL const float* frames, int frame_width, int frame_height,
            WA_GLOBAL const int* origins, int windows, int width, int height,
            WA_GLOBAL const float* weights, int parts, WA_GLOBAL const float* sums,
            WA_GLOBAL float* means, WA_GLOBAL float* output) {
  WA_BEGIN();
  const int number = WA_GROUP_X / parts;
  const int part = WA_GROUP_X - number * parts;
  float sum = 0.0f;
  float count = 0.0f;
  for (int i = 0; i < parts; ++i) {
    sum += sums[2 * (number * parts + i)];
    count += sums[2 * (number * parts + i) + 1];
  }
  const float mean = count > 0.0f ? sum / count : 0.0f;
  if (part == 0 && WA_ITEM_Y == 0 && WA_ITEM_X == 0) means[number] = mean;
  WA_GLOBAL const float* pixels =
      wa_window(frames, frame_width, frame_height, origins, windows, number);
  WA_GLOBAL float* target = output + (WA_UINT64)number * width * height;
  const int end = height * (part + 1) / parts;
  for (int y = height * part / parts + WA_ITEM_Y; y < end; y += ROWS) {
    const float down = weights[width + y];
    for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
      const float above = pixels[(WA_UINT64)y * frame_width + x] - mean;
      const int finite = above - above == 0.0f;
      target[y * width + x] = finite ? above * (weights[x] * down) : 0.0f;
    }
  }
}
#undef ADD_UP

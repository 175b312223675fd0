// Cuts windows out of frames, or of their gradients, subtracts each window's mean, multiplies it by
// weights and copies it to the middle of a slice of the output.
//
// `parts` work-groups share the rows of a window, so that a few large windows occupy a whole
// device: one kernel sums the pixels of each part, and the other one, which needs the mean, writes
// them.
//
// Options: COLUMNS and ROWS, the size of the work-group; both are powers of two. SIGNAL_GRADIENT
// for the gradient.
//
// variant: gpu -DCOLUMNS=32 -DROWS=8
// variant: gpu -DCOLUMNS=32 -DROWS=8 -DSIGNAL_GRADIENT
#include "formulas/sobel.h"
#include "shared/kernel_language.h"

// Sums `value` over the work-group; all work-items get the sum.
#define ADD_UP(shared, value)                                                  \
  shared[item] = value;                                                        \
  WA_BARRIER();                                                                \
  for (int half_group = COLUMNS * ROWS / 2; half_group > 0; half_group /= 2) { \
    if (item < half_group) shared[item] += shared[item + half_group];          \
    WA_BARRIER();                                                              \
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

// The signal of a window at (x, y). Pixels beyond the window's edge repeat the edge.
WA_INLINE float wa_signal_of_window(WA_GLOBAL const float* pixels, int frame_width, int x, int y,
                                    int width, int height) {
  WA_GLOBAL const float* at = pixels + (WA_UINT64)y * frame_width;
#if defined(SIGNAL_GRADIENT)
  WA_GLOBAL const float* above = y > 0 ? at - frame_width : at;
  WA_GLOBAL const float* below = y + 1 < height ? at + frame_width : at;
  const int left = x > 0 ? x - 1 : 0;
  const int right = x + 1 < width ? x + 1 : x;
  return wa_sobel_magnitude(wa_sobel_smooth(above[left], at[left], below[left]),
                            wa_sobel_smooth(above[right], at[right], below[right]),
                            below[left] - above[left], below[x] - above[x],
                            below[right] - above[right]);
#else
  return at[x];
#endif
}

// `sums` gets the sum and the number of the finite pixels of each part of each window, from window
// number `first` on.
WA_KERNEL(COLUMNS, ROWS)
sum_windows(WA_GLOBAL const float* frames, int frame_width, int frame_height,
            WA_GLOBAL const int* origins, int windows, int first, int width, int height, int parts,
            WA_GLOBAL float* sums) {
  WA_BEGIN();
  WA_LOCAL float values[COLUMNS * ROWS];
  WA_LOCAL float counts[COLUMNS * ROWS];
  const int number = WA_GROUP_X / parts;
  const int part = WA_GROUP_X - number * parts;
  const int item = WA_ITEM_Y * COLUMNS + WA_ITEM_X;
  WA_GLOBAL const float* pixels =
      wa_window(frames, frame_width, frame_height, origins, windows, first + number);
  const int end = height * (part + 1) / parts;
  float sum = 0.0f;
  float count = 0.0f;
  for (int y = height * part / parts + WA_ITEM_Y; y < end; y += ROWS) {
    for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
      const float value = wa_signal_of_window(pixels, frame_width, x, y, width, height);
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

// Slices of the output are padded_width x padded_height pixels; (ox, oy) is where a window's pixel
// (0, 0) lies in its slice.
WA_KERNEL(COLUMNS, ROWS)
cut_windows(WA_GLOBAL const float* frames, int frame_width, int frame_height,
            WA_GLOBAL const int* origins, int windows, int first, int width, int height,
            WA_GLOBAL const float* weights, int parts, WA_GLOBAL const float* sums,
            WA_GLOBAL float* means, WA_GLOBAL float* output, int padded_width, int padded_height,
            int ox, int oy) {
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
      wa_window(frames, frame_width, frame_height, origins, windows, first + number);
  WA_GLOBAL float* target = output + (WA_UINT64)number * padded_width * padded_height;
  const int end = padded_height * (part + 1) / parts;
  for (int row = padded_height * part / parts + WA_ITEM_Y; row < end; row += ROWS) {
    const int y = row - oy;
    const int in_rows = y >= 0 && y < height;
    const float down = in_rows ? weights[width + y] : 0.0f;
    for (int column = WA_ITEM_X; column < padded_width; column += COLUMNS) {
      const int x = column - ox;
      float value = 0.0f;
      if (in_rows && x >= 0 && x < width) {
        const float above = wa_signal_of_window(pixels, frame_width, x, y, width, height) - mean;
        const int finite = above - above == 0.0f;
        value = finite ? above * (weights[x] * down) : 0.0f;
      }
      target[row * padded_width + column] = value;
    }
  }
}
#undef ADD_UP

// Sobel gradient magnitude: a block of 4 x 2 outputs per work-item (registration paper, section 4),
// and a plain kernel to compare it with.
//
// Options: those of lib/signal.h, with SIGNAL_GRADIENT.
//
// variant: gpu -DPIXEL_U8 -DWHOLE_WORDS -DSIGNAL_GRADIENT
// variant: gpu -DPIXEL_U16 -DSIGNAL_GRADIENT
// variant: gpu -DPIXEL_F32 -DWHOLE_WORDS -DSIGNAL_GRADIENT
#include "lib/signal.h"

// Each work-item computes one output and reads each of its neighbours separately. It is the
// baseline for the paper's kernel.
kernel void sobel_plain(global const Pixel* input, global float* output, int width, int height) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width || y >= height) return;
  const int left = max(x - 1, 0);
  const int right = min(x + 1, width - 1);
  global const Pixel* above = input + (size_t)max(y - 1, 0) * (size_t)width;
  global const Pixel* at = input + (size_t)y * (size_t)width;
  global const Pixel* below = input + (size_t)min(y + 1, height - 1) * (size_t)width;
  const float s_left = wa_sobel_smooth((float)above[left], (float)at[left], (float)below[left]);
  const float s_right = wa_sobel_smooth((float)above[right], (float)at[right], (float)below[right]);
  output[(size_t)y * (size_t)width + (size_t)x] = wa_sobel_magnitude(
      s_left, s_right, (float)below[left] - (float)above[left], (float)below[x] - (float)above[x],
      (float)below[right] - (float)above[right]);
}

kernel void sobel(global const Pixel* input, global float* output, int width, int height) {
  const int x = (int)get_global_id(0) * 4;
  const int y = (int)get_global_id(1) * 2;
  if (x >= width || y >= height) return;
  const Block block = signal_block(input, x, y, width, height);
  global float* target = output + (size_t)y * (size_t)width;
  store_four(target, x, width, block.upper, ROWS_ARE_WORDS);
  if (y + 1 < height) store_four(target + width, x, width, block.lower, ROWS_ARE_WORDS);
}

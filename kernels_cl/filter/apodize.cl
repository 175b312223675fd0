// Subtracts the mean from an image, or from its gradient, applies a window and copies the result to
// a padded frame.
//
// Options: those of lib/signal.h; PADDED_WORDS, if the rows of the padded frame also begin at words
// of four pixels.
//
// variant: gpu -DPIXEL_F32 -DWHOLE_WORDS -DPADDED_WORDS
// variant: gpu -DPIXEL_U8 -DSIGNAL_GRADIENT
// variant: gpu -DPIXEL_U16 -DSIGNAL_GRADIENT -DWHOLE_WORDS
#include "lib/signal.h"

// A signal that is not finite is replaced by the mean.
inline float4 weighted_deviation(float4 value, float mean, float4 weight) {
  return select((float4)(0.0f), (value - mean) * weight, isfinite(value));
}

#if defined(PADDED_WORDS)
#define PADDED_IS_WORDS true
#else
#define PADDED_IS_WORDS false
#endif

inline float4 four_weights(global const float* window, int x, int width) {
#if defined(WHOLE_WORDS)
  return ((global const float4*)window)[x >> 2];
#else
  const int last = width - 1;
  return (float4)(window[x], window[min(x + 1, last)], window[min(x + 2, last)],
                  window[min(x + 3, last)]);
#endif
}

// statistics[0] is the mean. (ox, oy) is the position of the input's pixel (0, 0) in the padded
// frame, whose pixels outside the input are already 0. Each work-item processes a block of 4 x 2
// pixels.
kernel void apodize(global const Pixel* input, int width, int height,
                    global const float* statistics, global const float* window_x,
                    global const float* window_y, global float* padded, int padded_width, int ox,
                    int oy) {
  const int x = (int)get_global_id(0) * 4;
  const int y = (int)get_global_id(1) * 2;
  if (x >= width || y >= height) return;
  const Block block = signal_block(input, x, y, width, height);
  const float4 weight = four_weights(window_x, x, width);
  const float mean = statistics[0];
  global float* row = padded + (size_t)(y + oy) * (size_t)padded_width + (size_t)ox;
  store_four(row, x, width, weighted_deviation(block.upper, mean, weight * window_y[y]),
             PADDED_IS_WORDS);
  if (y + 1 >= height) return;
  store_four(row + padded_width, x, width,
             weighted_deviation(block.lower, mean, weight * window_y[y + 1]), PADDED_IS_WORDS);
}

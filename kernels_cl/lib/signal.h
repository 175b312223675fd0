// An image or its Sobel gradient (registration paper, section 4), in blocks of 4 x 2 pixels.
//
// Options: PIXEL_U8, PIXEL_U16 or PIXEL_F32; WHOLE_WORDS, if the width is a multiple of 4, so that
// four pixels are one aligned word in every row; SIGNAL_GRADIENT for the gradient.
//
// The paper exchanges the pixels to the left and right of a word through local memory, because its
// cards had no caches. Here, caches serve those two reads.
#ifndef WARPALIGN_LIB_SIGNAL_H
#define WARPALIGN_LIB_SIGNAL_H

#include "formulas/sobel.h"
#include "lib/pixels.h"

// Columns x ... x + 3 of a row; columns beyond its end may be any pixels of the row.
inline float4 four_pixels(global const Pixel* row, int x, int width) {
#if defined(WHOLE_WORDS)
  return LOAD_WORD(row + x);
#else
  if (x + 3 < width) return LOAD_4_PIXELS(row + x);
  const int last = width - 1;
  return (float4)((float)row[x], (float)row[min(x + 1, last)], (float)row[min(x + 2, last)],
                  (float)row[last]);
#endif
}

#if defined(WHOLE_WORDS)
#define ROWS_ARE_WORDS true
#else
#define ROWS_ARE_WORDS false
#endif

// Stores columns x ... x + 3 of a row of `width` pixels. `words`: row + x is aligned, and x + 3 <
// width.
WA_INLINE void store_four(global float* row, int x, int width, float4 value, bool words) {
  if (words) {
    ((global float4*)row)[x >> 2] = value;
    return;
  }
  if (x + 3 < width) {
    vstore4(value, 0, row + x);
    return;
  }
  row[x] = value.s0;
  if (x + 1 < width) row[x + 1] = value.s1;
  if (x + 2 < width) row[x + 2] = value.s2;
}

// Six columns of a row: one to the left, four, one to the right.
typedef struct {
  float left;
  float4 four;
  float right;
} Six;

inline Six six_pixels(global const Pixel* image, int x, int y, int width, int height) {
  global const Pixel* row = image + (size_t)clamp(y, 0, height - 1) * (size_t)width;
  Six six;
  six.left = (float)row[max(x - 1, 0)];
  six.four = four_pixels(row, x, width);
  six.right = (float)row[min(x + 4, width - 1)];
  return six;
}

inline float4 smooth4(float4 before, float4 at, float4 after) {
  return fma((float4)(2.0f), at, before + after);
}

// Four outputs of one row from the three rows around it. Each column's sum and difference is
// computed once and used for all outputs that need it.
inline float4 magnitudes(Six above, Six at, Six below) {
  const float4 s = smooth4(above.four, at.four, below.four);
  const float s_left = wa_sobel_smooth(above.left, at.left, below.left);
  const float s_right = wa_sobel_smooth(above.right, at.right, below.right);
  const float4 d = below.four - above.four;
  const float d_left = below.left - above.left;
  const float d_right = below.right - above.right;
  return (float4)(wa_sobel_magnitude(s_left, s.s1, d_left, d.s0, d.s1),
                  wa_sobel_magnitude(s.s0, s.s2, d.s0, d.s1, d.s2),
                  wa_sobel_magnitude(s.s1, s.s3, d.s1, d.s2, d.s3),
                  wa_sobel_magnitude(s.s2, s_right, d.s2, d.s3, d_right));
}

// Columns x ... x + 3 of row y and, if it exists, of row y + 1.
typedef struct {
  float4 upper, lower;
} Block;

inline Block signal_block(global const Pixel* image, int x, int y, int width, int height) {
  Block block;
#if defined(SIGNAL_GRADIENT)
  const Six row0 = six_pixels(image, x, y - 1, width, height);
  const Six row1 = six_pixels(image, x, y, width, height);
  const Six row2 = six_pixels(image, x, y + 1, width, height);
  const Six row3 = six_pixels(image, x, y + 2, width, height);
  block.upper = magnitudes(row0, row1, row2);
  block.lower = magnitudes(row1, row2, row3);
#else
  block.upper = four_pixels(image + (size_t)y * (size_t)width, x, width);
  block.lower = four_pixels(image + (size_t)min(y + 1, height - 1) * (size_t)width, x, width);
#endif
  return block;
}

#endif

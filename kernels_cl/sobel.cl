// Sobel gradient magnitude: a block of 4 x 2 outputs per work item (registration paper, section 4),
// and a plain kernel to compare it with.
//
// Options: PIXEL_U8, PIXEL_U16 or PIXEL_F32; WHOLE_WORDS where the width is a multiple of 4, so
// that four pixels are one aligned word in every row.
//
// The paper exchanges the pixels left and right of a word through local memory; caches, which its
// cards lacked, serve those two reads here.
#include "formulas/sobel.h"

#if defined(PIXEL_U8)
typedef uchar Pixel;
typedef uchar4 Pixel4;
#elif defined(PIXEL_U16)
typedef ushort Pixel;
typedef ushort4 Pixel4;
#else
typedef float Pixel;
typedef float4 Pixel4;
#endif

// Columns x ... x + 3 of a row.
inline float4 four_pixels(global const Pixel* row, int x, int width) {
#if defined(WHOLE_WORDS) && defined(PIXEL_U8)
  return convert_float4(as_uchar4(((global const uint*)row)[x >> 2]));
#elif defined(WHOLE_WORDS)
  return convert_float4(((global const Pixel4*)row)[x >> 2]);
#else
  if (x + 3 < width) return convert_float4(vload4(0, row + x));
  const int last = width - 1;
  return (float4)((float)row[x], (float)row[min(x + 1, last)], (float)row[min(x + 2, last)],
                  (float)row[last]);
#endif
}

inline void store_four(global float* row, int x, int width, float4 value) {
#if defined(WHOLE_WORDS)
  ((global float4*)row)[x >> 2] = value;
#else
  if (x + 3 < width) {
    vstore4(value, 0, row + x);
    return;
  }
  row[x] = value.s0;
  if (x + 1 < width) row[x + 1] = value.s1;
  if (x + 2 < width) row[x + 2] = value.s2;
#endif
}

// Six columns of one row: left, four, right.
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

// One row of four outputs from the three rows around it. Each column's sum and difference is
// computed once and serves the three outputs beside it.
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

// One output per work item from its neighbours, each a read of its own: what the paper's kernel is
// compared with.
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
  const Six row0 = six_pixels(input, x, y - 1, width, height);
  const Six row1 = six_pixels(input, x, y, width, height);
  const Six row2 = six_pixels(input, x, y + 1, width, height);
  global float* target = output + (size_t)y * (size_t)width;
  store_four(target, x, width, magnitudes(row0, row1, row2));
  if (y + 1 >= height) return;
  const Six row3 = six_pixels(input, x, y + 2, width, height);
  store_four(target + width, x, width, magnitudes(row1, row2, row3));
}

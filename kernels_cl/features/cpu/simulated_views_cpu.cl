// Views of an image that simulate a tilt of the camera, for CPUs: like simulated_views.cl, but
// sixteen neighbouring pixels at once.
//
// variant: cpu
#define WA_REAL float16
#include "lib/simd.h"
#include "shared/view_samples.h"

typedef struct {
  global const float* pixels;
  int width, height;
  int last_x, last_y;      // the last pixels that have a right and a lower neighbour, or 0
  int to_right, to_below;  // the offsets of these neighbours, or 0
} ViewedImage;

WA_INLINE ViewedImage viewed_image(global const float* pixels, int width, int height) {
  const ViewedImage image = {pixels,
                             width,
                             height,
                             max(width - 2, 0),
                             max(height - 2, 0),
                             width > 1 ? 1 : 0,
                             height > 1 ? width : 0};
  return image;
}

WA_INLINE float16 samples_at(ViewedImage image, float16 x, float16 y) {
  const float16 u = wa_in_image(x, image.width);
  const float16 v = wa_in_image(y, image.height);
  const int16 left = convert_int16(u);
  const int16 top = convert_int16(v);
  const int16 at = min(top, image.last_y) * image.width + min(left, image.last_x);
  // Four gathers would take more instructions.
  float16 h00, h10, h01, h11;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    global const float* pixel = image.pixels + ((const int*)&at)[i];
    ((float*)&h00)[i] = pixel[0];
    ((float*)&h10)[i] = pixel[image.to_right];
    ((float*)&h01)[i] = pixel[image.to_below];
    ((float*)&h11)[i] = pixel[image.to_below + image.to_right];
  }
  // In the last column and row the right and lower neighbours are the pixels to use.
  const int16 in_last_column = left > image.last_x;
  const int16 in_last_row = top > image.last_y;
  h00 = select(h00, h10, in_last_column);
  h01 = select(h01, h11, in_last_column);
  h00 = select(h00, h01, in_last_row);
  h10 = select(h10, h11, in_last_row);
  return wa_bilinear(h00, h10, h01, h11, u - convert_float16(left), v - convert_float16(top));
}

// Each work-item processes a row of a view: work-item (y, v) row y of view v.
SIMD_KERNEL simulated_views(
    global const float* pixels, int width, int height, global const int* planes,
    global const float* maps, global float* views) {
  const int y = (int)get_global_id(0);
  const int view = (int)get_global_id(1);
  global const int* plane = planes + view * VIEW_WORDS;
  global const float* map = maps + view * MAP_NUMBERS;
  if (y >= plane[2]) return;
  const ViewedImage image = viewed_image(pixels, width, height);
  const int count = plane[3];
  global float* row = views + plane[0] + y * plane[1];
  for (int x = 0; x < plane[1]; x += 16) {
    const float16 column = convert_float16(x + NUMBERS);
    const float16 u = wa_mapped(map, column, (float)y);
    const float16 v = wa_mapped(map + 3, column, (float)y);
    float16 sum = 0.0f;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      const float along = wa_along(i, count);
      sum += samples_at(image, u + map[0] * along, v + map[3] * along);
    }
    store_some(sum / (float)count, plane[1] - x, row + x);
  }
}

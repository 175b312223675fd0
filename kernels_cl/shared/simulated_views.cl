// Views of an image that simulate a tilt of the camera (ASIFT: Morel & Yu 2009).
//
// Options: COLUMNS and ROWS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=32 -DROWS=8
// variant: cpu -DCOLUMNS=64 -DROWS=1
#include "shared/view_samples.h"

WA_INLINE float wa_view_sample(WA_GLOBAL const float* image, int width, int height, float x,
                               float y) {
  const float u = wa_in_image(x, width);
  const float v = wa_in_image(y, height);
  const int left = (int)u;
  const int top = (int)v;
  const int right = left + 1 < width ? 1 : 0;
  WA_GLOBAL const float* above = image + top * width + left;
  WA_GLOBAL const float* below = top + 1 < height ? above + width : above;
  return wa_bilinear(above[0], above[right], below[0], below[right], u - (float)left,
                     v - (float)top);
}

// Row y of work-groups is view y. `planes` has the first pixel, the width, the height and the
// number of samples of each view.
WA_KERNEL(COLUMNS, ROWS)
simulated_views(WA_GLOBAL const float* image, int width, int height, WA_GLOBAL const int* planes,
                WA_GLOBAL const float* maps, WA_GLOBAL float* views) {
  WA_BEGIN();
  WA_GLOBAL const int* plane = planes + WA_GROUP_Y * VIEW_WORDS;
  WA_GLOBAL const float* map = maps + WA_GROUP_Y * MAP_NUMBERS;
  const int columns = (plane[1] + COLUMNS - 1) / COLUMNS;
  const int row_of_groups = WA_GROUP_X / columns;
  const int x = (WA_GROUP_X - row_of_groups * columns) * COLUMNS + WA_ITEM_X;
  const int y = row_of_groups * ROWS + WA_ITEM_Y;
  if (x >= plane[1] || y >= plane[2]) return;
  const int count = plane[3];
  const float u = wa_mapped(map, (float)x, (float)y);
  const float v = wa_mapped(map + 3, (float)x, (float)y);
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) {
    const float along = wa_along(i, count);
    sum += wa_view_sample(image, width, height, WA_FMA(map[0], along, u), WA_FMA(map[3], along, v));
  }
  views[plane[0] + y * plane[1] + x] = sum / (float)count;
}

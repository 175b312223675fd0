// The double-angle representation of an image's gradient, (gx + i gy)^2 / (|g|^2 + epsilon), turned,
// less a mean, times a gain; 0 where a pixel or one of its neighbours does not count.
//
// Options: COLUMNS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=256
#include "shared/kernel_language.h"

#include "formulas/double_angle.h"

// A work-group takes a row of a slice.
WA_KERNEL(COLUMNS, 1)
double_angle(WA_GLOBAL const float* input, WA_GLOBAL const float* weight, int width, int height,
             int first_slice, float epsilon, WA_GLOBAL const float* terms,
             WA_GLOBAL float* cosines, WA_GLOBAL float* sines) {
  WA_BEGIN();
  WA_GLOBAL const float* t = terms + WA_DOUBLE_ANGLE_TERMS * WA_GROUP_Y;
  const WaDoubleAngleTerms of_slice = {t[0], t[1], t[2], t[3], t[4]};
  const int slice = first_slice + WA_GROUP_Y;
  const int y = WA_GROUP_X;
  const int inside = y > 0 && y < height - 1;
  const WA_UINT64 row = ((WA_UINT64)slice * height + y) * width;
  const float minimum = WA_DOUBLE_ANGLE_MIN_WEIGHT;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const WA_UINT64 i = row + x;
    float c = 0.0f;
    float s = 0.0f;
    if (inside && x > 0 && x < width - 1 && weight[i] >= minimum && weight[i - 1] >= minimum &&
        weight[i + 1] >= minimum && weight[i - width] >= minimum && weight[i + width] >= minimum) {
      wa_double_angle(input[i + 1] - input[i - 1], input[i + width] - input[i - width], epsilon,
                      of_slice, &c, &s);
    }
    cosines[i] = c;
    sines[i] = s;
  }
}

// The double-angle representation of an image's gradient, (gx + i gy)^2 / (|g|^2 + epsilon), turned,
// less a mean, times a gain; 0 where a pixel or one of its neighbours does not count.
//
// Options: COLUMNS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=256
#include "shared/kernel_language.h"

// How many numbers a slice has among the terms.
#define WA_DOUBLE_ANGLE_TERMS 5

// The weight below which a pixel does not count.
#define MIN_WEIGHT 0.99f

// A work-group takes a row of a slice. terms, for each slice: cosine and sine of twice the angle by
// which gradients are turned, the mean's cosine and sine, and the gain.
WA_KERNEL(COLUMNS, 1)
double_angle(WA_GLOBAL const float* input, WA_GLOBAL const float* weight, int width, int height,
             int first_slice, float epsilon, WA_GLOBAL const float* terms,
             WA_GLOBAL float* cosines, WA_GLOBAL float* sines) {
  WA_BEGIN();
  WA_GLOBAL const float* of_slice = terms + WA_DOUBLE_ANGLE_TERMS * WA_GROUP_Y;
  const float cosine = of_slice[0];
  const float sine = of_slice[1];
  const float mean_cosine = of_slice[2];
  const float mean_sine = of_slice[3];
  const float gain = of_slice[4];
  const int slice = first_slice + WA_GROUP_Y;
  const int y = WA_GROUP_X;
  const int inside = y > 0 && y < height - 1;
  const WA_UINT64 row = ((WA_UINT64)slice * height + y) * width;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const WA_UINT64 i = row + x;
    float c = 0.0f;
    float s = 0.0f;
    if (inside && x > 0 && x < width - 1 && weight[i] >= MIN_WEIGHT &&
        weight[i - 1] >= MIN_WEIGHT && weight[i + 1] >= MIN_WEIGHT &&
        weight[i - width] >= MIN_WEIGHT && weight[i + width] >= MIN_WEIGHT) {
      const float gx = 0.5f * (input[i + 1] - input[i - 1]);
      const float gy = 0.5f * (input[i + width] - input[i - width]);
      const float scale = 1.0f / (WA_FMA(gx, gx, WA_FMA(gy, gy, epsilon)));
      const float u = (gx - gy) * (gx + gy) * scale;
      const float v = 2.0f * gx * gy * scale;
      c = gain * (WA_FMA(u, cosine, -v * sine) - mean_cosine);
      s = gain * (WA_FMA(u, sine, v * cosine) - mean_sine);
    }
    cosines[i] = c;
    sines[i] = s;
  }
}

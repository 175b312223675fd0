// The double-angle representation of an image's gradient, (gx + i gy)^2 / (|g|^2 + epsilon), minus
// a mean, times a gain; 0 if the pixel or one of its neighbours is masked.
#ifndef WARPALIGN_SHARED_DOUBLE_ANGLE_ROW_H
#define WARPALIGN_SHARED_DOUBLE_ANGLE_ROW_H

#include "shared/kernel_language.h"

#include "formulas/double_angle.h"

// Computes every `step`-th pixel of row y of a slice, from pixel `first` on.
WA_INLINE void wa_double_angle_row(WA_GLOBAL const float* input, WA_GLOBAL const float* weight,
                                   int width, int height, int slice, int y, int first, int step,
                                   float epsilon, WaDoubleAngleTerms terms,
                                   WA_GLOBAL float* cosines, WA_GLOBAL float* sines) {
  const int inside = y > 0 && y < height - 1;
  const WA_UINT64 row = ((WA_UINT64)slice * height + y) * width;
  const float minimum = WA_DOUBLE_ANGLE_MIN_WEIGHT;
  for (int x = first; x < width; x += step) {
    const WA_UINT64 i = row + x;
    float c = 0.0f;
    float s = 0.0f;
    if (inside && x > 0 && x < width - 1 && weight[i] >= minimum && weight[i - 1] >= minimum &&
        weight[i + 1] >= minimum && weight[i - width] >= minimum && weight[i + width] >= minimum) {
      wa_double_angle(input[i + 1] - input[i - 1], input[i + width] - input[i - width], epsilon,
                      terms, &c, &s);
    }
    cosines[i] = c;
    sines[i] = s;
  }
}

#endif

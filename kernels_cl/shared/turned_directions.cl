// Rotates gradients in the double-angle representation: multiplies every number, as a complex one,
// by exp(2 i angle), whose real and imaginary parts are arguments.
//
// Option: GROUP, the size of the work-group.
//
// variant: gpu -DGROUP=256
// variant: cpu -DGROUP=64
#include "shared/kernel_language.h"

WA_KERNEL(GROUP, 1)
turned_directions(WA_GLOBAL const float* cosines, WA_GLOBAL const float* sines, int pixels,
                  float cosine, float sine, WA_GLOBAL float* rotated_cosines,
                  WA_GLOBAL float* rotated_sines) {
  WA_BEGIN();
  const int i = WA_GROUP_X * GROUP + WA_ITEM_X;
  if (i >= pixels) return;
  const float c = cosines[i];
  const float s = sines[i];
  rotated_cosines[i] = WA_FMA(c, cosine, -s * sine);
  rotated_sines[i] = WA_FMA(c, sine, s * cosine);
}

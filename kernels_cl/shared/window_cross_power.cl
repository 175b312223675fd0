// The cross-power spectra of many windows, by the symmetric phase-only filter (Wernet 2005).
//
// Options: GROUP, the size of the work-group.
//
// variant: gpu -DGROUP=256
#include "formulas/spectrum.h"
#include "shared/kernel_language.h"

// `groups` work-groups compute the spectrum of one window. columns = width / 2 + 1.
WA_KERNEL(GROUP, 1)
window_cross_power(WA_GLOBAL const float* reference, WA_GLOBAL const float* frames, int windows,
                   int width, int columns, int height, int groups, float falloff,
                   int whitened, WA_GLOBAL float* output) {
  WA_BEGIN();
  const int number = WA_GROUP_X / groups;
  const int at = (WA_GROUP_X - number * groups) * GROUP + WA_ITEM_X;
  const int plane = columns * height;
  if (at >= plane) return;
  const WA_UINT64 a = 2 * ((WA_UINT64)number * plane + at);
  const WA_UINT64 b = 2 * ((WA_UINT64)(number % windows) * plane + at);
  const float a_re = frames[a];
  const float a_im = frames[a + 1];
  const float b_re = reference[b];
  const float b_im = reference[b + 1];
  const int v = at / columns;
  const int u = at - v * columns;
  const float rho_x = 2.0f * (float)u / (float)width;
  const float rho_y = 2.0f * (float)wa_signed_frequency(v, height) / (float)height;
  const float weight = wa_gaussian_weight(WA_FMA(rho_x, rho_x, rho_y * rho_y), falloff);
  const float scale_a =
      weight * (whitened ? WA_SQRT(wa_reciprocal_magnitude(a_re, a_im)) : 1.0f);
  const float scale_b = whitened ? WA_SQRT(wa_reciprocal_magnitude(b_re, b_im)) : 1.0f;
  const float p_re = a_re * scale_a;
  const float p_im = a_im * scale_a;
  const float q_re = b_re * scale_b;
  const float q_im = b_im * scale_b;
  const int counts = scale_a > 0.0f && scale_b > 0.0f;
  output[a] = counts ? WA_FMA(p_re, q_re, p_im * q_im) : 0.0f;
  output[a + 1] = counts ? WA_FMA(p_im, q_re, -p_re * q_im) : 0.0f;
}

// The two-pass recursion with one line per work-item (Ruijters and Thevenaz; the papers' baseline).
//
// Poles are applied in turn, in place after the first. Both recursions start in the state that they
// would have reached over the infinite extension of the signal: they warm up over HORIZON samples
// that the boundary rule finds. The array's shape is as in cpu/prefilter_cpu.cl.
//
// Options: the pixel's type (lib/pixels.h); EXTENSION of the samples; POLE; HORIZON; GAIN, the gain
// of all axes for the last pole of the last axis, otherwise 1; COMPONENTS.
//
// variant: gpu -DPIXEL_F32 -DEXTENSION=0 -DPOLE=(-0.2679492f) -DHORIZON=13 -DGAIN=6.0f -DCOMPONENTS=1
// variant: gpu -DPIXEL_F16 -DEXTENSION=4 -DPOLE=(-0.4305753f) -DHORIZON=20 -DGAIN=1.0f -DCOMPONENTS=2
#include "formulas/boundary.h"
#include "formulas/bspline.h"
#include "lib/pixels.h"

// A line of n samples, `stride` apart.
typedef struct {
  global const Pixel* samples;
  int n;
  size_t stride;
  float fill_value;
} Line;

WA_INLINE float sample(Line line, int k) {
  const int at = wa_extend(EXTENSION, k, line.n);
  return at < 0 ? line.fill_value : LOAD_PIXEL(line.samples, (size_t)at * line.stride);
}

// The causal state c+ just before sample k.
WA_INLINE float causal_before(Line line, int k) {
  float value = wa_prefilter_causal_start(sample(line, k - HORIZON), POLE);
  for (int i = k - HORIZON + 1; i < k; ++i) {
    value = wa_prefilter_causal(sample(line, i), POLE, value);
  }
  return value;
}

// The sum over i >= 1 of z^i s[k + i]: the contribution of the samples after k to the anticausal
// recursion.
WA_INLINE float anticausal_after(Line line, int k) {
  float value = wa_prefilter_causal_start(sample(line, k + HORIZON), POLE);
  for (int i = k + HORIZON - 1; i > k; --i) {
    value = wa_prefilter_causal(sample(line, i), POLE, value);
  }
  return POLE * value;
}

// n samples give n + 2 margin values. source and target may be the same if margin is 0.
kernel void prefilter_iir(global const Pixel* source, global float* target, long outer, int n,
                          long inner, int margin, float cval) {
  const long item = (long)get_global_id(0);
  if (item >= outer * inner) return;
  const long plane = item / inner;
  const long column = item % inner;
  const int out = n + 2 * margin;
  const Line line = {source + (size_t)plane * (size_t)n * (size_t)inner + column, n, (size_t)inner,
                     column % COMPONENTS == 0 ? cval : 0.0f};
  global float* result = target + (size_t)plane * (size_t)out * (size_t)inner + column;
  // Must come before the line is overwritten.
  const float after = anticausal_after(line, n - 1 + margin);
  float value = causal_before(line, -margin);
  for (int k = 0; k < out; ++k) {
    value = wa_prefilter_causal(sample(line, k - margin), POLE, value);
    result[(size_t)k * (size_t)inner] = value;
  }
  // The value at the end from the sums of both sides is (value + after) / (1 - z^2), Ruijters and
  // Thevenaz' start for any extension. The code adds it as a small correction, which limits
  // rounding.
  value += fma(POLE * POLE, value, after) / (1.0f - POLE * POLE);
  result[(size_t)(out - 1) * (size_t)inner] = GAIN * value;
  for (int k = out - 2; k >= 0; --k) {
    value = wa_prefilter_causal(result[(size_t)k * (size_t)inner], POLE, value);
    result[(size_t)k * (size_t)inner] = GAIN * value;
  }
}

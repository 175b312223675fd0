// Log-polar resampling of a centred half-plane magnitude (registration paper, equations 11 to 13).
//
// variant: gpu
#include "formulas/bilinear.h"
#include "formulas/log_polar.h"

// The magnitude at frequency (u, v), within both Nyquist frequencies.
inline float lookup(global const float* magnitude, int columns, int height, float u, float v) {
  int above, below, right;
  float x, y;
  wa_half_plane_cell(u, v, columns, height, &above, &below, &right, &x, &y);
  global const float* upper = magnitude + above;
  global const float* lower = magnitude + below;
  return wa_bilinear(upper[0], upper[right], lower[0], lower[right], x, y);
}

// A direction is (u, v) per unit of radius; (u_end, v_end) = (width, height) / 2 are the Nyquist
// frequencies.
kernel void log_polar(global const float* magnitude, int columns, int height,
                      global const float* radii, int radius_count, global const float2* directions,
                      int angle_count, float u_end, float v_end, global float* output) {
  const int i = (int)get_global_id(0);
  const int j = (int)get_global_id(1);
  if (i >= radius_count || j >= angle_count) return;
  const float2 frequency = radii[i] * directions[j];
  float result = 0.0f;
  if (frequency.x <= u_end && fabs(frequency.y) <= v_end) {
    result = lookup(magnitude, columns, height, frequency.x, frequency.y);
  }
  output[(size_t)j * (size_t)radius_count + (size_t)i] = result;
}

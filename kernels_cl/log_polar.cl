// Log-polar resampling of a centred half-plane magnitude (registration paper, equations 11 to 13).
#include "formulas/bilinear.h"

// The magnitude at frequency (u, v), 0 <= u <= Nyquist, |v| <= Nyquist. Rows are periodic; beyond
// the last column lies its own mirror image, which clamping stands for.
inline float lookup(global const float* magnitude, int columns, int height, float u, float v) {
  const float u_floor = floor(u);
  const float v_floor = floor(v);
  const int u0 = min((int)u_floor, columns - 1);
  const int u1 = min(u0 + 1, columns - 1);
  const int row = (int)v_floor + height / 2;  // at most one row beyond either end
  const int v0 = row < 0 ? row + height : (row >= height ? row - height : row);
  const int v1 = v0 + 1 == height ? 0 : v0 + 1;
  global const float* row0 = magnitude + (size_t)v0 * (size_t)columns;
  global const float* row1 = magnitude + (size_t)v1 * (size_t)columns;
  return wa_bilinear(row0[u0], row0[u1], row1[u0], row1[u1], u - u_floor, v - v_floor);
}

// Directions are (u, v) a unit of radius; (u_end, v_end) = (width, height) / 2 are the Nyquist
// frequencies.
kernel void log_polar(global const float* magnitude, int columns, int height,
                      global const float* radii, int radius_count,
                      global const float2* directions, int angle_count, float u_end, float v_end,
                      global float* output) {
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

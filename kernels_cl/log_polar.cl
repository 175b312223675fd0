// Log-polar resampling of a centred half-plane magnitude (registration paper, equations 11 to 13).
#include "formulas/bilinear.h"
#include "formulas/log_polar.h"

// Radii of the columns and directions (cosine, sine) of the rows, once per plan.
kernel void log_polar_tables(global float* radii, int radius_count, float log_base,
                             global float2* directions, int angle_count, float one_over_angles) {
  const int i = (int)get_global_id(0);
  if (i < radius_count) radii[i] = wa_log_polar_radius(i, log_base);
  if (i < angle_count) {
    const float half_turns = wa_log_polar_half_turns(i, one_over_angles);
    directions[i] = (float2)(WA_COSPI(half_turns), WA_SINPI(half_turns));
  }
}

// The magnitude at frequency (u, v), 0 <= u <= Nyquist, |v| <= Nyquist. Rows are periodic; beyond
// the last column lies its own mirror image, which clamping stands for.
inline float lookup(global const float* magnitude, int columns, int height, float u, float v) {
  const float u_floor = floor(u);
  const float v_floor = floor(v);
  const int u0 = min((int)u_floor, columns - 1);
  const int u1 = min(u0 + 1, columns - 1);
  const int shifted = (int)v_floor + height / 2 + height;
  const int v0 = shifted % height;
  const int v1 = v0 + 1 == height ? 0 : v0 + 1;
  global const float* row0 = magnitude + (size_t)v0 * (size_t)columns;
  global const float* row1 = magnitude + (size_t)v1 * (size_t)columns;
  return wa_bilinear(row0[u0], row0[u1], row1[u0], row1[u1], u - u_floor, v - v_floor);
}

// (u_scale, v_scale) = (width, height) / size, so that radii are true frequencies;
// (u_end, v_end) = (width, height) / 2 are the Nyquist frequencies.
kernel void log_polar(global const float* magnitude, int columns, int height,
                      global const float* radii, int radius_count,
                      global const float2* directions, int angle_count, float u_scale,
                      float v_scale, float u_end, float v_end, global float* output) {
  const int i = (int)get_global_id(0);
  const int j = (int)get_global_id(1);
  if (i >= radius_count || j >= angle_count) return;
  const float radius = radii[i];
  const float2 direction = directions[j];
  const float u = radius * direction.x * u_scale;
  const float v = radius * direction.y * v_scale;
  float result = 0.0f;
  if (u <= u_end && fabs(v) <= v_end) result = lookup(magnitude, columns, height, u, v);
  output[(size_t)j * (size_t)radius_count + (size_t)i] = result;
}

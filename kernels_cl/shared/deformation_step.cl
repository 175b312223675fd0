// One step of accelerated descent for a free-form deformation, preconditioned at each control point.
//
// Option: COLUMNS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=64
#include "formulas/language.h"
#include "shared/kernel_language.h"

// The second difference at control point k of an axis, if it has both neighbours.
WA_INLINE float wa_second_difference(WA_GLOBAL const float* c, int stride, int k, int count) {
  return k > 0 && k < count - 1 ? (c[stride] - c[0]) - (c[0] - *(c - stride)) : 0.0f;
}

// The sum of squared second differences along an axis, derived by the control point k, divided by
// 2.
WA_INLINE float wa_bending_along(WA_GLOBAL const float* c, int stride, int k, int count) {
  float sum = -2.0f * wa_second_difference(c, stride, k, count);
  if (k > 0) sum += wa_second_difference(c - stride, stride, k - 1, count);
  if (k < count - 1) sum += wa_second_difference(c + stride, stride, k + 1, count);
  return sum;
}

// The mixed difference over the cell whose first corner is c.
WA_INLINE float wa_mixed_difference(WA_GLOBAL const float* c, int i, int j) {
  return (c[i + j] - c[i]) - (c[j] - c[0]);
}

// The same for squared mixed differences over the cells of two axes.
WA_INLINE float wa_bending_across(WA_GLOBAL const float* c, int i, int k, int count, int j, int l,
                                  int others) {
  float sum = 0.0f;
  if (k > 0 && l > 0) sum += wa_mixed_difference(c - i - j, i, j);
  if (k > 0 && l < others - 1) sum -= wa_mixed_difference(c - i, i, j);
  if (k < count - 1 && l > 0) sum -= wa_mixed_difference(c - j, i, j);
  if (k < count - 1 && l < others - 1) sum += wa_mixed_difference(c, i, j);
  return sum;
}

// A work-group processes a row of control points.
WA_KERNEL(COLUMNS, 1)
deformation_step(WA_GLOBAL const float* forces, WA_GLOBAL const float* preconditioner, int width,
                 int height, int depth, float force_x, float force_y, float force_z, float smooth_x,
                 float smooth_y, float smooth_z, float limit_x, float limit_y, float limit_z,
                 float momentum, WA_GLOBAL const float* point, WA_GLOBAL float* coefficients,
                 WA_GLOBAL float* next) {
  WA_BEGIN();
  const int y = WA_GROUP_X % height;
  const int z = WA_GROUP_X / height;
  const int in_space = depth > 1;
  const int plane = width * height;
  const int controls = plane * depth;
  const float force[3] = {force_x, force_y, force_z};
  const float smooth[3] = {smooth_x, smooth_y, smooth_z};
  const float limit[3] = {limit_x, limit_y, limit_z};
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const int here = WA_GROUP_X * width + x;
    float g[3] = {0.0f, 0.0f, 0.0f};
    for (int a = 0; a < (in_space ? 3 : 2); ++a) {
      WA_GLOBAL const float* c = point + (a * controls + here);
      float bending = wa_bending_along(c, 1, x, width) + wa_bending_along(c, width, y, height) +
                      2.0f * wa_bending_across(c, 1, x, width, width, y, height);
      if (in_space) {
        bending += wa_bending_along(c, plane, z, depth) +
                   2.0f * (wa_bending_across(c, 1, x, width, plane, z, depth) +
                           wa_bending_across(c, width, y, height, plane, z, depth));
      }
      g[a] = WA_FMA(force[a], forces[a * controls + here], -smooth[a] * bending);
    }
    WA_GLOBAL const float* p = preconditioner + here;
    float step[3];
    if (in_space) {
      step[0] = p[0] * g[0] + p[controls] * g[1] + p[2 * controls] * g[2];
      step[1] = p[controls] * g[0] + p[3 * controls] * g[1] + p[4 * controls] * g[2];
      step[2] = p[2 * controls] * g[0] + p[4 * controls] * g[1] + p[5 * controls] * g[2];
    } else {
      step[0] = p[0] * g[0] + p[controls] * g[1];
      step[1] = p[controls] * g[0] + p[2 * controls] * g[1];
    }
    for (int a = 0; a < (in_space ? 3 : 2); ++a) {
      const int at = a * controls + here;
      const float moved = point[at] + WA_FMIN(WA_FMAX(step[a], -limit[a]), limit[a]);
      next[at] = WA_FMA(momentum, moved - coefficients[at], moved);
      coefficients[at] = moved;
    }
  }
}

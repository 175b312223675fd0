// One step of accelerated descent for a free-form deformation, preconditioned at each control point.
//
// Option: COLUMNS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=64
#include "formulas/language.h"
#include "shared/kernel_language.h"

// The steps from control point k of an axis to its neighbours, 0 where there is none. Loads never
// depend on a branch, so that they overlap.
typedef struct {
  int two_before, before, after, two_after;
} WaSteps;

WA_INLINE WaSteps wa_steps(int stride, int k, int count) {
  WaSteps steps;
  steps.before = k > 0 ? -stride : 0;
  steps.two_before = k > 1 ? -2 * stride : 0;
  steps.after = k < count - 1 ? stride : 0;
  steps.two_after = k < count - 2 ? 2 * stride : 0;
  return steps;
}

// The sum of squared second differences along an axis, derived by the control point, divided by 2.
// A second difference counts if its point has both neighbours.
WA_INLINE float wa_bending_along(WA_GLOBAL const float* c, WaSteps s) {
  const float here = c[0];
  const float before = c[s.before];
  const float after = c[s.after];
  const float to_here = here - before;
  const float from_here = after - here;
  const float second = from_here - to_here;
  const float second_before = to_here - (before - c[s.two_before]);
  const float second_after = (c[s.two_after] - after) - from_here;
  float sum = s.before && s.after ? -2.0f * second : 0.0f;
  sum += s.two_before ? second_before : 0.0f;
  sum += s.two_after ? second_after : 0.0f;
  return sum;
}

// The same for squared mixed differences over the cells of two axes.
WA_INLINE float wa_bending_across(WA_GLOBAL const float* c, WaSteps s, WaSteps t) {
  const float here = c[0];
  const float a = c[s.before];
  const float b = c[s.after];
  const float d = c[t.before];
  const float e = c[t.after];
  const float first = (here - d) - (a - c[s.before + t.before]);
  const float second = (e - c[s.before + t.after]) - (here - a);
  const float third = (b - c[s.after + t.before]) - (here - d);
  const float fourth = (c[s.after + t.after] - e) - (b - here);
  float sum = s.before && t.before ? first : 0.0f;
  sum -= s.before && t.after ? second : 0.0f;
  sum -= s.after && t.before ? third : 0.0f;
  sum += s.after && t.after ? fourth : 0.0f;
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
    const WaSteps along_x = wa_steps(1, x, width);
    const WaSteps along_y = wa_steps(width, y, height);
    const WaSteps along_z = wa_steps(plane, z, depth);
    WA_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (a == 2 && !in_space) break;
      WA_GLOBAL const float* c = point + (a * controls + here);
      float bending = wa_bending_along(c, along_x) + wa_bending_along(c, along_y) +
                      2.0f * wa_bending_across(c, along_x, along_y);
      if (in_space) {
        bending += wa_bending_along(c, along_z) +
                   2.0f * (wa_bending_across(c, along_x, along_z) +
                           wa_bending_across(c, along_y, along_z));
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

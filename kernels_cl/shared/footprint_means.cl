// Means of a spline over the footprints of output points (footprint_means.hpp).
//
// Options: GROUP, the size of the work-group.
//
// scratch: 80 bytes: the kernel indexes the weights of the neighbours along three axes at run time,
// for degrees from 1 to 5 in one kernel.
//
// variant: gpu -DGROUP=64
#include "formulas/affine.h"
#include "formulas/boundary.h"
#include "formulas/bspline.h"
#include "formulas/spline_location.h"
#include "shared/kernel_language.h"

// Floats of a FootprintPoint.
#define WA_POINT_FLOATS 8

// The weights of the degree + 1 neighbours of a point. `fraction` is the distance from the sample
// below it. Returns the first neighbour relative to that sample.
WA_INLINE int wa_neighbours(int degree, float fraction, float* weights) {
  const bool is_next = fraction >= 0.5f;
  const float t = is_next ? fraction - 1.0f : fraction;
  switch (degree) {
    case 1:
      wa_bspline_weights_1(fraction, weights);
      return 0;
    case 2:
      wa_bspline_weights_2(t, weights);
      return is_next ? 0 : -1;
    case 3:
      wa_bspline_weights_3(fraction, weights);
      return -1;
    case 4:
      wa_bspline_weights_4(t, weights);
      return is_next ? -1 : -2;
    default:
      wa_bspline_weights_5(fraction, weights);
      return -2;
  }
}

// Row `axis` of the transform at an output point, as the sum of two floats.
WA_INLINE float wa_row(WA_GLOBAL const float* rows, int axis, float x, float y, float z,
                       float* low) {
  WA_GLOBAL const float* row = rows + 8 * axis;
  float high = row[3];
  *low = row[7];
  wa_add_product(row[0], row[4], x, &high, low);
  wa_add_product(row[1], row[5], y, &high, low);
  wa_add_product(row[2], row[6], z, &high, low);
  wa_snap(&high, low);
  return high;
}

// The footprint's point along one axis: weights, and the first neighbour in the coefficients.
WA_INLINE int wa_point(int degree, int whole, float fraction, float offset, float part, int margin,
                       float* weights) {
  const float sum = fraction + part;
  const float below = WA_FLOOR(sum);
  return whole + (int)offset + (int)below + margin + wa_neighbours(degree, sum - below, weights);
}

// An axis that the spline does not have.
#define WA_NO_AXIS(weights) (weights[0] = 1.0f, 0)

WA_KERNEL(GROUP, 1)
footprint_means(WA_GLOBAL const float* coefficients, int dimensions, int degree, int points_rule,
                int extension, int margin, int width, int height, int depth, int components,
                float cval, int out_width, int out_height, int out_depth, WA_UINT64 total,
                WA_GLOBAL const float* rows, WA_GLOBAL const float* points, int num_points,
                WA_GLOBAL float* output) {
  WA_BEGIN();
  const WA_UINT64 number = (WA_UINT64)WA_GROUP_X * GROUP + WA_ITEM_X;
  if (number >= total) return;
  const WA_UINT64 pixel = number / (WA_UINT64)components;
  const int component = (int)(number - pixel * (WA_UINT64)components);
  const WA_UINT64 row = pixel / (WA_UINT64)out_width;
  const WA_UINT64 slice = row / (WA_UINT64)out_height;
  const WA_UINT64 array = slice / (WA_UINT64)out_depth;
  const float x = (float)(int)(pixel - row * (WA_UINT64)out_width);
  const float y = (float)(int)(row - slice * (WA_UINT64)out_height);
  const float z = (float)(int)(slice - array * (WA_UINT64)out_depth);
  int whole[3];
  float fraction[3], low[3];
  bool has_value = true;
  {
    const float high = wa_row(rows, 0, x, y, z, &low[0]);
    has_value = wa_locate(points_rule, extension, high, low[0], width, &whole[0], &fraction[0]);
  }
  if (dimensions > 1) {
    const float high = wa_row(rows, 1, x, y, z, &low[1]);
    has_value = wa_locate(points_rule, extension, high, low[1], height, &whole[1], &fraction[1]) &&
                has_value;
  }
  if (dimensions > 2) {
    const float high = wa_row(rows, 2, x, y, z, &low[2]);
    has_value = wa_locate(points_rule, extension, high, low[2], depth, &whole[2], &fraction[2]) &&
                has_value;
  }
  if (!has_value) {
    output[number] = component == 0 ? cval : 0.0f;
    return;
  }
  const int across = width + 2 * margin;
  const int down = dimensions > 1 ? height + 2 * margin : height;
  const int deep = dimensions > 2 ? depth + 2 * margin : depth;
  const float fill = component == 0 ? cval : 0.0f;
  WA_GLOBAL const float* base =
      coefficients + array * (WA_UINT64)across * down * deep * components + component;
  float mean = 0.0f;
  for (int p = 0; p < num_points; ++p) {
    WA_GLOBAL const float* point = points + p * WA_POINT_FLOATS;
    float of_x[6], of_y[6], of_z[6];
    const int first_x = wa_point(degree, whole[0], fraction[0], point[0], point[3], margin, of_x);
    const int first_y =
        dimensions > 1 ? wa_point(degree, whole[1], fraction[1], point[1], point[4], margin, of_y)
                       : WA_NO_AXIS(of_y);
    const int first_z =
        dimensions > 2 ? wa_point(degree, whole[2], fraction[2], point[2], point[5], margin, of_z)
                       : WA_NO_AXIS(of_z);
    float value = 0.0f;
    for (int k = 0; k <= (dimensions > 2 ? degree : 0); ++k) {
      const int at_z = wa_extend(extension, first_z + k, deep);
      for (int j = 0; j <= (dimensions > 1 ? degree : 0); ++j) {
        const int at_y = wa_extend(extension, first_y + j, down);
        const bool is_row = at_z >= 0 && at_y >= 0;
        WA_GLOBAL const float* line =
            base +
            (((WA_UINT64)(is_row ? at_z : 0) * down + (is_row ? at_y : 0)) * across) * components;
        float of_line = 0.0f;
        for (int i = 0; i <= degree; ++i) {
          const int at_x = wa_extend(extension, first_x + i, across);
          const float sample = is_row && at_x >= 0 ? line[(WA_UINT64)at_x * components] : fill;
          of_line = WA_FMA(of_x[i], sample, of_line);
        }
        value = WA_FMA(of_y[j] * of_z[k], of_line, value);
      }
    }
    mean = WA_FMA(point[6], value, mean);
  }
  output[number] = mean;
}
#undef WA_NO_AXIS

// The normalised correlation of two volumes within windows, and its derivatives.
//
// With r = A / sqrt(B C), A the covariance within a window of n voxels and B and C the variances
// plus their floors, the derivative of the sum of all r with respect to the warped volume W at a
// voxel is F sum(a) - W sum(b) + sum(c), over the windows about it, with a = 1 / (n sqrt(B C)),
// b = r / (n C) and c = mean(W) b - mean(F) a. Sums over windows are separable.
//
// Options: COLUMNS, the size of the work-group, a power of two.
//
// variant: gpu -DCOLUMNS=64
#include "formulas/language.h"
#include "shared/group_sum.h"
#include "shared/kernel_language.h"

// The number of voxels of an axis in the window about k.
WA_INLINE float wa_window_extent(int k, int radius, int voxels) {
  const int before = k < radius ? k : radius;
  const int after = voxels - 1 - k < radius ? voxels - 1 - k : radius;
  return (float)(before + after + 1);
}

// Sums a voxel's neighbours at the distance `stride`, those within the axis, of which it is number
// k.
WA_INLINE float wa_window_sum(WA_GLOBAL const float* voxel, WA_UINT64 stride, int k, int radius,
                              int voxels) {
  const int before = k < radius ? k : radius;
  const int after = voxels - 1 - k < radius ? voxels - 1 - k : radius;
  WA_GLOBAL const float* next = voxel - before * stride;
  float sum = 0.0f;
  for (int i = -before; i <= after; ++i) {
    sum += *next;
    next += stride;
  }
  return sum;
}

// Sums W, W^2 and F W along x. `sums` has three volumes of `voxels` each. A work-group processes a
// row.
WA_KERNEL(COLUMNS, 1)
correlation_products(WA_GLOBAL const float* reference, WA_GLOBAL const float* warped, int width,
                     int radius, int rows, WA_GLOBAL float* sums) {
  WA_BEGIN();
  const WA_UINT64 voxels = (WA_UINT64)rows * width;
  const WA_UINT64 row = (WA_UINT64)WA_GROUP_X * width;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const int begin = x < radius ? 0 : x - radius;
    const int end = width - 1 - x < radius ? width : x + radius + 1;
    float w = 0.0f;
    float ww = 0.0f;
    float fw = 0.0f;
    for (int i = begin; i < end; ++i) {
      const float value = warped[row + i];
      w += value;
      ww = WA_FMA(value, value, ww);
      fw = WA_FMA(value, reference[row + i], fw);
    }
    sums[row + x] = w;
    sums[voxels + row + x] = ww;
    sums[2 * voxels + row + x] = fw;
  }
}

// Sums along x. A work-group processes a row.
WA_KERNEL(COLUMNS, 1)
correlation_across(WA_GLOBAL const float* values, int width, int radius, WA_GLOBAL float* sums) {
  WA_BEGIN();
  const WA_UINT64 row = (WA_UINT64)WA_GROUP_X * width;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    sums[row + x] = wa_window_sum(values + (row + x), 1, x, radius, width);
  }
}

// Sums along y or z. Rows at the distance `stride` rows follow each other along this axis of
// `length` voxels. A work-group processes a row.
WA_KERNEL(COLUMNS, 1)
correlation_along(WA_GLOBAL const float* values, int width, int stride, int length, int radius,
                  WA_GLOBAL float* sums) {
  WA_BEGIN();
  const int k = WA_GROUP_X / stride % length;
  const WA_UINT64 row = (WA_UINT64)WA_GROUP_X * width;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    sums[row + x] =
        wa_window_sum(values + (row + x), (WA_UINT64)stride * width, k, radius, length);
  }
}

// The sum over the last axis: along z, or along y in the plane, where depth is 1.
#define WA_LAST_AXIS()                                        \
  const int rows = height * depth;                            \
  const int y = WA_GROUP_X % height;                          \
  const int z = WA_GROUP_X / height;                          \
  const int k = depth > 1 ? z : y;                            \
  const int length = depth > 1 ? depth : height;              \
  const WA_UINT64 stride = (WA_UINT64)width * (depth > 1 ? height : 1); \
  const WA_UINT64 voxels = (WA_UINT64)rows * width;           \
  const WA_UINT64 row = (WA_UINT64)WA_GROUP_X * width

// The voxels of the windows about a row, divided by their extent along x.
#define WA_WINDOW_ROWS()                                    \
  (wa_window_extent(y, radius_y, height) *                  \
   (depth > 1 ? wa_window_extent(z, radius_z, depth) : 1.0f))

// The mean and 1 / sqrt(variance + floor) of windows, from sums of W and W^2 along all axes but the
// last one.
WA_KERNEL(COLUMNS, 1)
correlation_statistics(WA_GLOBAL const float* sums, int width, int height, int depth, int radius_x,
                       int radius_y, int radius_z, float lowest, WA_GLOBAL float* statistics) {
  WA_BEGIN();
  WA_LAST_AXIS();
  const int radius = depth > 1 ? radius_z : radius_y;
  const float window_rows = WA_WINDOW_ROWS();
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const float per = 1.0f / (window_rows * wa_window_extent(x, radius_x, width));
    const float mean = per * wa_window_sum(sums + (row + x), stride, k, radius, length);
    const float square = per * wa_window_sum(sums + (voxels + row + x), stride, k, radius, length);
    statistics[row + x] = mean;
    statistics[voxels + row + x] =
        1.0f / WA_SQRT(WA_FMAX(WA_FMA(-mean, mean, square), 0.0f) + lowest);
  }
}

// 1 / (voxels (variance + floor)) of windows.
WA_KERNEL(COLUMNS, 1)
correlation_precisions(WA_GLOBAL const float* statistics, int width, int height, int depth,
                       int radius_x, int radius_y, int radius_z, WA_GLOBAL float* precisions) {
  WA_BEGIN();
  const int y = WA_GROUP_X % height;
  const int z = WA_GROUP_X / height;
  const WA_UINT64 row = (WA_UINT64)WA_GROUP_X * width;
  WA_GLOBAL const float* inverse = statistics + (WA_UINT64)height * depth * width;
  const float window_rows = WA_WINDOW_ROWS();
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const float root = inverse[row + x];
    precisions[row + x] = root * root / (window_rows * wa_window_extent(x, radius_x, width));
  }
}

// Half the difference of the neighbours, or the whole difference to the only one.
WA_INLINE float wa_slope_at(WA_GLOBAL const float* voxel, WA_UINT64 stride, int k, int voxels) {
  if (k == 0) return voxels > 1 ? voxel[stride] - voxel[0] : 0.0f;
  if (k == voxels - 1) return voxel[0] - *(voxel - stride);
  return 0.5f * (voxel[stride] - *(voxel - stride));
}

// `weights`: the precisions, summed along all axes but the last one.
WA_KERNEL(COLUMNS, 1)
correlation_curvatures(WA_GLOBAL const float* reference, WA_GLOBAL const float* weights, int width,
                       int height, int depth, int radius, WA_GLOBAL float* curvatures) {
  WA_BEGIN();
  WA_LAST_AXIS();
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const float weight = wa_window_sum(weights + (row + x), stride, k, radius, length);
    WA_GLOBAL const float* here = reference + (row + x);
    WA_GLOBAL float* to = curvatures + (row + x);
    const float gx = wa_slope_at(here, 1, x, width);
    const float gy = wa_slope_at(here, width, y, height);
    to[0] = weight * gx * gx;
    to[voxels] = weight * gx * gy;
    if (depth > 1) {
      const float gz = wa_slope_at(here, (WA_UINT64)width * height, z, depth);
      to[2 * voxels] = weight * gx * gz;
      to[3 * voxels] = weight * gy * gy;
      to[4 * voxels] = weight * gy * gz;
      to[5 * voxels] = weight * gz * gz;
    } else {
      to[2 * voxels] = weight * gy * gy;
    }
  }
}

// a, b and c of each window, and the sums of correlations and of counting windows of each row.
// `sums`: of W, W^2 and F W along all axes but the last one. `valid`: the second half of the
// samples.
WA_KERNEL(COLUMNS, 1)
correlation_factors(WA_GLOBAL const float* sums, WA_GLOBAL const float* statistics,
                    WA_GLOBAL const float* samples, int width, int height, int depth, int radius_x,
                    int radius_y, int radius_z, float lowest, WA_GLOBAL float* factors,
                    WA_GLOBAL float* partials) {
  WA_BEGIN();
  WA_LOCAL float shared[COLUMNS];
  WA_LAST_AXIS();
  const int radius = depth > 1 ? radius_z : radius_y;
  const float window_rows = WA_WINDOW_ROWS();
  float correlation = 0.0f;
  float windows = 0.0f;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const WA_UINT64 at = row + x;
    const float per = 1.0f / (window_rows * wa_window_extent(x, radius_x, width));
    const float mean = per * wa_window_sum(sums + at, stride, k, radius, length);
    const float square = per * wa_window_sum(sums + (voxels + at), stride, k, radius, length);
    const float product = per * wa_window_sum(sums + (2 * voxels + at), stride, k, radius, length);
    const float inverse =
        1.0f / WA_SQRT(WA_FMAX(WA_FMA(-mean, mean, square), 0.0f) + lowest);
    const float valid = samples[voxels + at];
    const float reference_mean = statistics[at];
    const float both = valid * statistics[voxels + at] * inverse;
    const float r = WA_FMA(-reference_mean, mean, product) * both;
    const float a = per * both;
    const float b = per * r * inverse * inverse;
    factors[at] = a;
    factors[voxels + at] = b;
    factors[2 * voxels + at] = WA_FMA(mean, b, -reference_mean * a);
    correlation += r;
    windows += valid;
  }
  WA_ADD_UP(shared, WA_ITEM_X, COLUMNS, correlation)
  WA_ADD_UP(shared, WA_ITEM_X, COLUMNS, windows)
  if (WA_ITEM_X == 0) {
    partials[2 * WA_GROUP_X] = correlation;
    partials[2 * WA_GROUP_X + 1] = windows;
  }
}

// The derivative times the gradient of W. `factors`: summed along all axes but the last one.
WA_KERNEL(COLUMNS, 1)
correlation_forces(WA_GLOBAL const float* reference, WA_GLOBAL const float* warped,
                   WA_GLOBAL const float* factors, int width, int height, int depth, int radius,
                   WA_GLOBAL float* forces) {
  WA_BEGIN();
  WA_LAST_AXIS();
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const WA_UINT64 at = row + x;
    const float a = wa_window_sum(factors + at, stride, k, radius, length);
    const float b = wa_window_sum(factors + (voxels + at), stride, k, radius, length);
    const float c = wa_window_sum(factors + (2 * voxels + at), stride, k, radius, length);
    WA_GLOBAL const float* w = warped + at;
    const float derivative = WA_FMA(reference[at], a, WA_FMA(-w[0], b, c));
    forces[at] = derivative * wa_slope_at(w, 1, x, width);
    forces[voxels + at] = derivative * wa_slope_at(w, width, y, height);
    if (depth > 1) {
      forces[2 * voxels + at] =
          derivative * wa_slope_at(w, (WA_UINT64)width * height, z, depth);
    }
  }
}

// The normalised correlation of two volumes within windows, and its derivatives.
//
// With r = A / sqrt(B C), A the covariance within a window of n voxels and B and C the variances
// plus their floors, the derivative of the sum of all r with respect to the warped volume W at a
// voxel is F sum(a) - W sum(b) + sum(c), over the windows about it, with a = 1 / (n sqrt(B C)),
// b = r / (n C) and c = mean(W) b - mean(F) a. Sums over windows are separable. With `any_sign`,
// the measure of a window is r^2 / 2, whose derivative is r times that of r.
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

// Sums the five voxels about one, which all exist. Loops over a row with it can use vectors.
WA_INLINE float wa_sum_of_five(WA_GLOBAL const float* voxel, WA_UINT64 stride) {
  return ((*(voxel - 2 * stride) + *(voxel - stride)) + (voxel[stride] + voxel[2 * stride])) +
         voxel[0];
}

// `five`: whether the window has radius 2 and lies within the axis.
WA_INLINE float wa_sum_about(int five, WA_GLOBAL const float* voxel, WA_UINT64 stride, int k,
                             int radius, int voxels) {
  return five ? wa_sum_of_five(voxel, stride) : wa_window_sum(voxel, stride, k, radius, voxels);
}
#define WA_IS_FIVE(k, radius, voxels) ((radius) == 2 && (k) >= 2 && (k) < (voxels) - 2)

// Sums W, W^2 and F W along x. `sums` has three volumes of `voxels` each. A work-group processes a
// row.
WA_KERNEL(COLUMNS, 1)
correlation_products(WA_GLOBAL const float* reference, WA_GLOBAL const float* warped, int width,
                     int radius, int rows, WA_GLOBAL float* sums) {
  WA_BEGIN();
  const WA_UINT64 voxels = (WA_UINT64)rows * width;
  const WA_UINT64 row = (WA_UINT64)WA_GROUP_X * width;
  const int inner = radius == 2 ? 2 : width;
  for (int x = inner + WA_ITEM_X; x < width - inner; x += COLUMNS) {
    WA_GLOBAL const float* w = warped + (row + x);
    WA_GLOBAL const float* f = reference + (row + x);
    const float a = *(w - 2);
    const float b = *(w - 1);
    const float c = w[0];
    const float d = w[1];
    const float e = w[2];
    sums[row + x] = ((a + b) + (d + e)) + c;
    sums[voxels + row + x] = WA_FMA(a, a, WA_FMA(b, b, WA_FMA(c, c, WA_FMA(d, d, e * e))));
    sums[2 * voxels + row + x] = WA_FMA(
        a, *(f - 2), WA_FMA(b, *(f - 1), WA_FMA(c, f[0], WA_FMA(d, f[1], e * f[2]))));
  }
  for (int at = WA_ITEM_X; at < width; at += COLUMNS) {
    // The others: the first ones, and then the last ones.
    const int x = at < inner ? at : at + (width > 2 * inner ? width - 2 * inner : 0);
    if (x >= width) break;
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
  const int inner = radius == 2 ? 2 : width;
  for (int x = inner + WA_ITEM_X; x < width - inner; x += COLUMNS) {
    sums[row + x] = wa_sum_of_five(values + (row + x), 1);
  }
  for (int at = WA_ITEM_X; at < width; at += COLUMNS) {
    // The others: the first ones, and then the last ones.
    const int x = at < inner ? at : at + (width > 2 * inner ? width - 2 * inner : 0);
    if (x >= width) break;
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
  const WA_UINT64 down = (WA_UINT64)stride * width;
  if (WA_IS_FIVE(k, radius, length)) {
    for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
      sums[row + x] = wa_sum_of_five(values + (row + x), down);
    }
    return;
  }
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    sums[row + x] = wa_window_sum(values + (row + x), down, k, radius, length);
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

// Stores the products of the gradient with its component along x, or the other ones.
// `weights`: the precisions, summed along all axes but the last one.
WA_KERNEL(COLUMNS, 1)
correlation_curvatures(WA_GLOBAL const float* reference, WA_GLOBAL const float* weights, int width,
                       int height, int depth, int radius, int of_x, WA_GLOBAL float* curvatures) {
  WA_BEGIN();
  WA_LAST_AXIS();
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const float weight = wa_window_sum(weights + (row + x), stride, k, radius, length);
    WA_GLOBAL const float* here = reference + (row + x);
    WA_GLOBAL float* to = curvatures + (row + x);
    const float gx = wa_slope_at(here, 1, x, width);
    const float gy = wa_slope_at(here, width, y, height);
    const float gz = depth > 1 ? wa_slope_at(here, (WA_UINT64)width * height, z, depth) : 0.0f;
    if (of_x) {
      to[0] = weight * gx * gx;
      to[voxels] = weight * gx * gy;
      if (depth > 1) to[2 * voxels] = weight * gx * gz;
    } else {
      to[0] = weight * gy * gy;
      if (depth > 1) {
        to[voxels] = weight * gy * gz;
        to[2 * voxels] = weight * gz * gz;
      }
    }
  }
}

// a, b and c of each window, and its correlation, or the square of it, in a fourth volume.
WA_INLINE void wa_factors_of_row(int five, WA_GLOBAL const float* sums,
                                 WA_GLOBAL const float* statistics, WA_GLOBAL const float* valids,
                                 int width, WA_UINT64 voxels, WA_UINT64 row, WA_UINT64 stride,
                                 int k, int radius, int length, int radius_x, float window_rows,
                                 float lowest, int any_sign, WA_GLOBAL float* factors) {
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const WA_UINT64 at = row + x;
    const float per = 1.0f / (window_rows * wa_window_extent(x, radius_x, width));
    const float mean = per * wa_sum_about(five, sums + at, stride, k, radius, length);
    const float square =
        per * wa_sum_about(five, sums + (voxels + at), stride, k, radius, length);
    const float product =
        per * wa_sum_about(five, sums + (2 * voxels + at), stride, k, radius, length);
    const float inverse =
        1.0f / WA_SQRT(WA_FMAX(WA_FMA(-mean, mean, square), 0.0f) + lowest);
    const float reference_mean = statistics[at];
    const float both = valids[at] * statistics[voxels + at] * inverse;
    const float r = WA_FMA(-reference_mean, mean, product) * both;
    const float weight = any_sign ? r : 1.0f;
    const float a = weight * (per * both);
    const float b = weight * (per * r * inverse * inverse);
    factors[at] = a;
    factors[voxels + at] = b;
    factors[2 * voxels + at] = WA_FMA(mean, b, -reference_mean * a);
    factors[3 * voxels + at] = weight * r;
  }
}

// The factors, and the sums of correlations (or their squares) and of counting windows of each row.
// `sums`: of W, W^2 and F W along all axes but the last one. The second half of the samples tells
// which windows count. `factors` has four volumes.
WA_KERNEL(COLUMNS, 1)
correlation_factors(WA_GLOBAL const float* sums, WA_GLOBAL const float* statistics,
                    WA_GLOBAL const float* samples, int width, int height, int depth, int radius_x,
                    int radius_y, int radius_z, float lowest, int any_sign,
                    WA_GLOBAL float* factors, WA_GLOBAL float* partials) {
  WA_BEGIN();
  WA_LOCAL float shared[COLUMNS];
  WA_LAST_AXIS();
  const int radius = depth > 1 ? radius_z : radius_y;
  const float window_rows = WA_WINDOW_ROWS();
  WA_GLOBAL const float* valids = samples + voxels;
  if (WA_IS_FIVE(k, radius, length)) {
    wa_factors_of_row(1, sums, statistics, valids, width, voxels, row, stride, k, radius, length,
                      radius_x, window_rows, lowest, any_sign, factors);
  } else {
    wa_factors_of_row(0, sums, statistics, valids, width, voxels, row, stride, k, radius, length,
                      radius_x, window_rows, lowest, any_sign, factors);
  }
  float correlation = 0.0f;
  float windows = 0.0f;
  // Each work-item reads what it has written itself.
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    correlation += factors[3 * voxels + row + x];
    windows += valids[row + x];
  }
  WA_ADD_UP(shared, WA_ITEM_X, COLUMNS, correlation)
  WA_ADD_UP(shared, WA_ITEM_X, COLUMNS, windows)
  if (WA_ITEM_X == 0) {
    partials[2 * WA_GROUP_X] = correlation;
    partials[2 * WA_GROUP_X + 1] = windows;
  }
}

// The derivative times the gradient of W, along a row.
WA_INLINE void wa_forces_of_row(int five, WA_GLOBAL const float* reference,
                                WA_GLOBAL const float* warped, WA_GLOBAL const float* factors,
                                int width, WA_UINT64 voxels, WA_UINT64 row, WA_UINT64 stride, int k,
                                int radius, int length, WA_GLOBAL float* derivatives) {
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const WA_UINT64 at = row + x;
    const float a = wa_sum_about(five, factors + at, stride, k, radius, length);
    const float b = wa_sum_about(five, factors + (voxels + at), stride, k, radius, length);
    const float c = wa_sum_about(five, factors + (2 * voxels + at), stride, k, radius, length);
    derivatives[at] = WA_FMA(reference[at], a, WA_FMA(-warped[at], b, c));
  }
}

// Multiplies a row by half the differences over two distances.
WA_INLINE void wa_times_slope(WA_GLOBAL const float* derivatives, WA_GLOBAL const float* values,
                              int width, WA_UINT64 before, WA_UINT64 after, float per,
                              WA_GLOBAL float* forces) {
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    forces[x] = derivatives[x] * (per * (values[x + after] - *(values + x - before)));
  }
}

// The derivative times the gradient of W. `factors`: summed along all axes but the last one.
WA_KERNEL(COLUMNS, 1)
correlation_forces(WA_GLOBAL const float* reference, WA_GLOBAL const float* warped,
                   WA_GLOBAL const float* factors, int width, int height, int depth, int radius,
                   WA_GLOBAL float* forces) {
  WA_BEGIN();
  WA_LAST_AXIS();
  WA_GLOBAL float* derivatives = forces;
  if (WA_IS_FIVE(k, radius, length)) {
    wa_forces_of_row(1, reference, warped, factors, width, voxels, row, stride, k, radius, length,
                     derivatives);
  } else {
    wa_forces_of_row(0, reference, warped, factors, width, voxels, row, stride, k, radius, length,
                     derivatives);
  }
  // Each work-item reads what it has written itself. The component along x is the last one,
  // because it replaces the derivative.
  WA_GLOBAL const float* w = warped + row;
  const WA_UINT64 above = y > 0 ? (WA_UINT64)width : 0;
  const WA_UINT64 below = y < height - 1 ? (WA_UINT64)width : 0;
  wa_times_slope(derivatives + row, w, width, above, below, above && below ? 0.5f : 1.0f,
                 forces + (voxels + row));
  if (depth > 1) {
    const WA_UINT64 plane = (WA_UINT64)width * height;
    const WA_UINT64 front = z > 0 ? plane : 0;
    const WA_UINT64 back = z < depth - 1 ? plane : 0;
    wa_times_slope(derivatives + row, w, width, front, back, front && back ? 0.5f : 1.0f,
                   forces + (2 * voxels + row));
  }
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    forces[row + x] = derivatives[row + x] * wa_slope_at(w + x, 1, x, width);
  }
}

// Every `every`-th voxel of an image, and from it the difference of the differences of its
// neighbours along x and y (and z), which has no part that is linear along any axis. At the far
// edges it is 0. A work-group takes `share` of the samples.
WA_KERNEL(COLUMNS, 1)
correlation_noise(WA_GLOBAL const float* image, int width, int height, int depth, int every,
                  int count, int share, WA_GLOBAL float* samples) {
  WA_BEGIN();
  const WA_UINT64 plane = (WA_UINT64)width * height;
  for (int j = WA_ITEM_X; j < share; j += COLUMNS) {
    const int s = WA_GROUP_X * share + j;
    if (s >= count) break;
    const WA_UINT64 at = (WA_UINT64)s * every;
    const int z = (int)(at / plane);
    const int in_plane = (int)(at - z * plane);
    const int y = in_plane / width;
    const int x = in_plane - y * width;
    WA_GLOBAL const float* p = image + at;
    float difference = 0.0f;
    if (x + 1 < width && y + 1 < height && (depth == 1 || z + 1 < depth)) {
      difference = (p[0] - p[1]) - (p[width] - p[width + 1]);
      if (depth > 1) {
        WA_GLOBAL const float* q = p + plane;
        difference -= (q[0] - q[1]) - (q[width] - q[width + 1]);
      }
    }
    samples[s] = p[0];
    samples[count + s] = difference;
  }
}

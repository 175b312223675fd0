// Displacements from cubic B-spline coefficients on a regular grid, and the transposed sums. Both
// are separable: one pass for each axis, the last one over the rows.
//
// Option: COLUMNS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=64
#include "formulas/bspline.h"
#include "shared/kernel_language.h"

// The first of the four control points of the index t among `count`, and their weights.
WA_INLINE int wa_grid_weights(float t, int count, float* w) {
  int first = (int)t - 1;
  if (first > count - 4) first = count - 4;
  wa_bspline_weights_3(t - (float)(first + 1), w);
  return first;
}

// beta_3 without a branch.
WA_INLINE float wa_grid_weight(float distance) {
  const float outer = WA_FMAX(2.0f - WA_FABS(distance), 0.0f);
  const float inner = WA_FMAX(1.0f - WA_FABS(distance), 0.0f);
  return (1.0f / 6.0f) * (outer * outer * outer - 4.0f * (inner * inner * inner));
}

// Evaluates the spline along one axis, at its `voxels`. Between the arrays, the axis has stride
// `inner`. `count`: of the values. A work-item computes one, on processors `inner` of them at a
// time.
WA_KERNEL(COLUMNS, 1)
deformation_spread(WA_GLOBAL const float* from, int inner, int controls, float first, float step,
                   int voxels, int count, WA_GLOBAL float* to) {
  WA_BEGIN();
#if COLUMNS == 1
  const int row = WA_GROUP_X;
#else
  const int at = WA_GROUP_X * COLUMNS + WA_ITEM_X;
  if (at >= count) return;
  const int row = at / inner;
#endif
  const int outer = row / voxels;
  float w[4];
  const int i =
      wa_grid_weights(WA_FMA((float)(row - outer * voxels), step, first), controls, w);
  WA_GLOBAL const float* a = from + ((WA_UINT64)outer * controls + i) * inner;
  WA_GLOBAL const float* b = a + inner;
  WA_GLOBAL const float* c = b + inner;
  WA_GLOBAL const float* d = c + inner;
  WA_GLOBAL float* values = to + (WA_UINT64)row * inner;
#if COLUMNS == 1
  // This loop uses vectors.
  for (int x = 0; x < inner; ++x) {
#else
  const int x = at - row * inner;
  {
#endif
    values[x] = WA_FMA(w[0], a[x], WA_FMA(w[1], b[x], WA_FMA(w[2], c[x], w[3] * d[x])));
  }
}

// Evaluates the spline along the rows of one component or more. A work-group processes a row.
WA_KERNEL(COLUMNS, 1)
deformation_rows(WA_GLOBAL const float* from, int controls, float first, float step, int voxels,
                 WA_GLOBAL float* to) {
  WA_BEGIN();
  WA_GLOBAL const float* c = from + (WA_UINT64)WA_GROUP_X * controls;
  WA_GLOBAL float* row = to + (WA_UINT64)WA_GROUP_X * voxels;
  for (int x = WA_ITEM_X; x < voxels; x += COLUMNS) {
    float w[4];
    const int i = wa_grid_weights(WA_FMA((float)x, step, first), controls, w);
    row[x] = WA_FMA(w[0], c[i], WA_FMA(w[1], c[i + 1], WA_FMA(w[2], c[i + 2], w[3] * c[i + 3])));
  }
}

// Linear interpolation along a row between x and `next` voxels after it.
WA_INLINE float wa_between(WA_GLOBAL const float* row, int next, float part) {
  return WA_FMA(part, row[next] - row[0], row[0]);
}

// Samples the moving volume at the displaced voxels of a row. `from`: the coefficients, spread over
// the rows; component c begins after c `rows`.
WA_KERNEL(COLUMNS, 1)
deformation_warp(WA_GLOBAL const float* from, int controls, float first, float step, int width,
                 int height, int depth, WA_GLOBAL const float* moving, int moving_width,
                 int moving_height, int moving_depth, WA_GLOBAL const float* pose, int masked,
                 WA_GLOBAL const float* reference_mask, WA_GLOBAL const float* moving_mask,
                 WA_GLOBAL float* samples) {
  WA_BEGIN();
  const int y = WA_GROUP_X % height;
  const int z = WA_GROUP_X / height;
  const int rows = height * depth;
  const int in_space = depth > 1;
  WA_GLOBAL const float* cx = from + (WA_UINT64)WA_GROUP_X * controls;
  WA_GLOBAL const float* cy = cx + (WA_UINT64)rows * controls;
  WA_GLOBAL const float* cz = in_space ? cy + (WA_UINT64)rows * controls : cy;
  const float flat = in_space ? 1.0f : 0.0f;
  const float row_y = pose[13] * (float)y;
  const float row_z = pose[14] * (float)z;
  const WA_UINT64 down = (WA_UINT64)moving_width;
  const WA_UINT64 deep = down * moving_height;
  WA_GLOBAL float* values = samples + (WA_UINT64)WA_GROUP_X * width;
  WA_GLOBAL float* valid = values + (WA_UINT64)rows * width;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    float w[4];
    const int i = wa_grid_weights(WA_FMA((float)x, step, first), controls, w);
    const float ux =
        WA_FMA(w[0], cx[i], WA_FMA(w[1], cx[i + 1], WA_FMA(w[2], cx[i + 2], w[3] * cx[i + 3])));
    const float uy =
        WA_FMA(w[0], cy[i], WA_FMA(w[1], cy[i + 1], WA_FMA(w[2], cy[i + 2], w[3] * cy[i + 3])));
    const float uz = flat * WA_FMA(w[0], cz[i],
                                   WA_FMA(w[1], cz[i + 1], WA_FMA(w[2], cz[i + 2], w[3] * cz[i + 3])));
    const float qx = WA_FMA(pose[12], (float)x, ux);
    const float qy = row_y + uy;
    const float qz = row_z + uz;
    const float px = WA_FMA(pose[0], qx, WA_FMA(pose[1], qy, WA_FMA(pose[2], qz, pose[3])));
    const float py = WA_FMA(pose[4], qx, WA_FMA(pose[5], qy, WA_FMA(pose[6], qz, pose[7])));
    const float pz = WA_FMA(pose[8], qx, WA_FMA(pose[9], qy, WA_FMA(pose[10], qz, pose[11])));
    const float ax = WA_FMIN(WA_FMAX(px, 0.0f), (float)(moving_width - 1));
    const float ay = WA_FMIN(WA_FMAX(py, 0.0f), (float)(moving_height - 1));
    const float az = WA_FMIN(WA_FMAX(pz, 0.0f), (float)(moving_depth - 1));
    const int ix = (int)ax;
    const int iy = (int)ay;
    const int iz = (int)az;
    const int next = ix + 1 < moving_width ? 1 : 0;
    const WA_UINT64 under = iy + 1 < moving_height ? down : 0;
    const float tx = ax - (float)ix;
    const float ty = ay - (float)iy;
    WA_GLOBAL const float* m = moving + ((WA_UINT64)iz * deep + (WA_UINT64)iy * down + ix);
    const float upper = wa_between(m, next, tx);
    float value = WA_FMA(ty, wa_between(m + under, next, tx) - upper, upper);
    if (in_space) {
      WA_GLOBAL const float* n = m + (iz + 1 < moving_depth ? deep : 0);
      const float upper_behind = wa_between(n, next, tx);
      const float behind = WA_FMA(ty, wa_between(n + under, next, tx) - upper_behind, upper_behind);
      value = WA_FMA(az - (float)iz, behind - value, value);
    }
    values[x] = value;
    float counts = px == ax && py == ay && (pz == az || !in_space) ? 1.0f : 0.0f;
    if (masked) {
      const WA_UINT64 nearest = (WA_UINT64)(int)(az + 0.5f) * deep +
                                (WA_UINT64)(int)(ay + 0.5f) * down + (int)(ax + 0.5f);
      counts *= reference_mask[(WA_UINT64)WA_GROUP_X * width + x] * moving_mask[nearest];
    }
    valid[x] = counts;
  }
}

// The first and the last voxel of `voxels` that control point i reaches.
WA_INLINE int wa_first_reached(int i, float first, float step) {
  const int k = (int)(((float)(i - 2) - first) / step) - 1;
  return k > 0 ? k : 0;
}
WA_INLINE int wa_end_of_reached(int i, float first, float step, int voxels) {
  const float last = ((float)(i + 2) - first) / step;
  const int k = last > 0.0f ? (int)last + 2 : 0;
  return k < voxels ? k : voxels;
}

// The transpose of deformation_rows: a work-group processes a row.
WA_KERNEL(COLUMNS, 1)
deformation_row_sums(WA_GLOBAL const float* from, int voxels, float first, float step, int controls,
                     WA_GLOBAL float* to) {
  WA_BEGIN();
  WA_GLOBAL const float* row = from + (WA_UINT64)WA_GROUP_X * voxels;
  for (int i = WA_ITEM_X; i < controls; i += COLUMNS) {
    const int end = wa_end_of_reached(i, first, step, voxels);
    float sum = 0.0f;
    for (int k = wa_first_reached(i, first, step); k < end; ++k) {
      sum = WA_FMA(wa_grid_weight(WA_FMA((float)k, step, first) - (float)i), row[k], sum);
    }
    to[(WA_UINT64)WA_GROUP_X * controls + i] = sum;
  }
}

#if COLUMNS > 1
// How many columns a work-item sums, COLUMNS apart, with the same weights, and how many values of
// each it loads ahead.
#define WA_GATHERED 4
#define WA_AHEAD 2

// Stores the sums of control point i in its first `columns` columns, if i is from `begin` to `end`,
// and goes on to the next one. `sums`: of the four control points that the last voxel reaches.
WA_INLINE void wa_next_control(float (*sums)[WA_GATHERED], int i, int begin, int end, int columns,
                               int inner, WA_GLOBAL float** to) {
  WA_UNROLL
  for (int c = 0; c < WA_GATHERED; ++c) {
    if (i >= begin && i < end && c < columns) to[c][(WA_UINT64)i * inner] = sums[0][c];
    sums[0][c] = sums[1][c];
    sums[1][c] = sums[2][c];
    sums[2][c] = sums[3][c];
    sums[3][c] = 0.0f;
  }
}

// Loads the next values of the columns, from the k-th on. Beyond `end` it repeats the last one.
WA_INLINE void wa_load_values(WA_GLOBAL const float* const* columns, int k, int end, int inner,
                              float (*values)[WA_GATHERED]) {
  WA_UNROLL
  for (int j = 0; j < WA_AHEAD; ++j) {
    const WA_UINT64 at = (WA_UINT64)(k + j < end ? k + j : end - 1) * inner;
    WA_UNROLL
    for (int c = 0; c < WA_GATHERED; ++c) values[j][c] = columns[c][at];
  }
}
#endif

// The transpose of deformation_spread. All arrays together have `count` columns along the axis. On
// GPUs, a work-group sums `share` control points of some columns; on processors, one control point
// of `inner` columns.
WA_KERNEL(COLUMNS, 1)
deformation_gather(WA_GLOBAL const float* from, int inner, int count, int voxels, float first,
                   float step, int controls, int share, WA_GLOBAL float* to) {
  WA_BEGIN();
#if COLUMNS == 1
  // These loops use vectors.
  const int outer = WA_GROUP_X / controls;
  const int i = WA_GROUP_X - outer * controls;
  WA_GLOBAL float* sums = to + (WA_UINT64)WA_GROUP_X * inner;
  for (int x = 0; x < inner; ++x) sums[x] = 0.0f;
  const int end = wa_end_of_reached(i, first, step, voxels);
  for (int k = wa_first_reached(i, first, step); k < end; ++k) {
    const float weight = wa_grid_weight(WA_FMA((float)k, step, first) - (float)i);
    WA_GLOBAL const float* row = from + ((WA_UINT64)outer * voxels + k) * inner;
    for (int x = 0; x < inner; ++x) sums[x] = WA_FMA(weight, row[x], sums[x]);
  }
#else
  const int control = WA_GROUP_X * share;
  const int last = control + share < controls ? control + share : controls;
  const int begin = wa_first_reached(control, first, step);
  const int end = wa_end_of_reached(last - 1, first, step, voxels);
  if (share == 1) {
    // Few columns: each work-item has one.
    const int column = WA_GROUP_Y * COLUMNS + WA_ITEM_X;
    if (column >= count) return;
    const int outer = column / inner;
    const int x = column - outer * inner;
    WA_GLOBAL const float* values = from + ((WA_UINT64)outer * voxels * inner + x);
    float sum = 0.0f;
    for (int k = begin; k < end; ++k) {
      sum = WA_FMA(wa_grid_weight(WA_FMA((float)k, step, first) - (float)control),
                   values[(WA_UINT64)k * inner], sum);
    }
    to[((WA_UINT64)outer * controls + control) * inner + x] = sum;
    return;
  }
  // Each value is read once for all control points.
  const int column = WA_GROUP_Y * (WA_GATHERED * COLUMNS) + WA_ITEM_X;
  const int columns = (count - column + COLUMNS - 1) / COLUMNS;
  WA_GLOBAL const float* values[WA_GATHERED];
  WA_GLOBAL float* targets[WA_GATHERED];
  float next[WA_AHEAD][WA_GATHERED];
  float sums[4][WA_GATHERED];
  WA_UNROLL
  for (int c = 0; c < WA_GATHERED; ++c) {
    const int at = c < columns ? column + c * COLUMNS : 0;
    const int outer = at / inner;
    const int x = at - outer * inner;
    values[c] = from + ((WA_UINT64)outer * voxels * inner + x);
    targets[c] = to + ((WA_UINT64)outer * controls * inner + x);
    sums[0][c] = sums[1][c] = sums[2][c] = sums[3][c] = 0.0f;
  }
  wa_load_values(values, begin, end, inner, next);
  int at = (int)WA_FMA((float)begin, step, first);
  for (int k = begin; k < end; k += WA_AHEAD) {
    float loaded[WA_AHEAD][WA_GATHERED];
    WA_UNROLL
    for (int j = 0; j < WA_AHEAD; ++j) {
      WA_UNROLL
      for (int c = 0; c < WA_GATHERED; ++c) loaded[j][c] = next[j][c];
    }
    wa_load_values(values, k + WA_AHEAD, end, inner, next);
    WA_UNROLL
    for (int j = 0; j < WA_AHEAD; ++j) {
      if (k + j >= end) break;
      const float t = WA_FMA((float)(k + j), step, first);
      if ((int)t > at) wa_next_control(sums, at++ - 1, control, last, columns, inner, targets);
      float w[4];
      wa_bspline_weights_3(t - (float)at, w);
      WA_UNROLL
      for (int c = 0; c < WA_GATHERED; ++c) {
        WA_UNROLL
        for (int q = 0; q < 4; ++q) sums[q][c] = WA_FMA(w[q], loaded[j][c], sums[q][c]);
      }
    }
  }
  for (int i = at - 1; i < last; ++i) {
    wa_next_control(sums, i, control, last, columns, inner, targets);
  }
#endif
}

// The derivatives of the weights of the four control points, t after the second one.
WA_INLINE void wa_grid_slopes(float t, float* w) {
  const float s = 1.0f - t;
  w[0] = -0.5f * s * s;
  w[1] = t * WA_FMA(1.5f, t, -2.0f);
  w[3] = 0.5f * t * t;
  w[2] = -(w[0] + w[1] + w[3]);
}

// det(I + du/dx) at the voxels of a row, from the coefficients themselves. per_x: the inverse of
// the spacing along x.
WA_KERNEL(COLUMNS, 1)
deformation_determinants(WA_GLOBAL const float* coefficients, int grid_width, int grid_height,
                         int grid_depth, float first_x, float step_x, float per_x, float first_y,
                         float step_y, float per_y, float first_z, float step_z, float per_z,
                         int width, int height, WA_GLOBAL float* determinants) {
  WA_BEGIN();
  const int y = WA_GROUP_X % height;
  const int z = WA_GROUP_X / height;
  const int in_space = grid_depth > 1;
  const WA_UINT64 deep = (WA_UINT64)grid_width * grid_height;
  const WA_UINT64 component = deep * grid_depth;
  float wy[4], dy[4];
  float wz[4] = {1.0f, 0.0f, 0.0f, 0.0f};
  float dz[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  const float ty = WA_FMA((float)y, step_y, first_y);
  const int iy = wa_grid_weights(ty, grid_height, wy);
  wa_grid_slopes(ty - (float)(iy + 1), dy);
  int iz = 0;
  if (in_space) {
    const float tz = WA_FMA((float)z, step_z, first_z);
    iz = wa_grid_weights(tz, grid_depth, wz);
    wa_grid_slopes(tz - (float)(iz + 1), dz);
  }
  const int planes = in_space ? 4 : 1;
  const int components = in_space ? 3 : 2;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    float wx[4], dx[4];
    const float tx = WA_FMA((float)x, step_x, first_x);
    const int ix = wa_grid_weights(tx, grid_width, wx);
    wa_grid_slopes(tx - (float)(ix + 1), dx);
    float j[9] = {1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 1.0f};
    WA_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (a < components) {
        float by_x = 0.0f;
        float by_y = 0.0f;
        float by_z = 0.0f;
        WA_UNROLL
        for (int k = 0; k < 4; ++k) {
          if (k < planes) {
            WA_UNROLL
            for (int l = 0; l < 4; ++l) {
              WA_GLOBAL const float* c = coefficients + (a * component + (iz + k) * deep +
                                                         (WA_UINT64)(iy + l) * grid_width + ix);
              const float value =
                  WA_FMA(wx[0], c[0], WA_FMA(wx[1], c[1], WA_FMA(wx[2], c[2], wx[3] * c[3])));
              const float slope =
                  WA_FMA(dx[0], c[0], WA_FMA(dx[1], c[1], WA_FMA(dx[2], c[2], dx[3] * c[3])));
              by_x = WA_FMA(wz[k] * wy[l], slope, by_x);
              by_y = WA_FMA(wz[k] * dy[l], value, by_y);
              by_z = WA_FMA(dz[k] * wy[l], value, by_z);
            }
          }
        }
        j[3 * a] = WA_FMA(by_x, per_x, j[3 * a]);
        j[3 * a + 1] = WA_FMA(by_y, per_y, j[3 * a + 1]);
        j[3 * a + 2] = WA_FMA(by_z, per_z, j[3 * a + 2]);
      }
    }
    determinants[(WA_UINT64)WA_GROUP_X * width + x] =
        j[0] * (j[4] * j[8] - j[5] * j[7]) - j[1] * (j[3] * j[8] - j[5] * j[6]) +
        j[2] * (j[3] * j[7] - j[4] * j[6]);
  }
}

// The least and the greatest determinant of a row, and how many lie outside of low to high.
WA_KERNEL(COLUMNS, 1)
deformation_extremes(WA_GLOBAL const float* determinants, int width, float low, float high,
                     WA_GLOBAL float* extremes) {
  WA_BEGIN();
  WA_LOCAL float least[COLUMNS];
  WA_LOCAL float most[COLUMNS];
  WA_LOCAL float outside[COLUMNS];
  WA_GLOBAL const float* row = determinants + (WA_UINT64)WA_GROUP_X * width;
  float smallest = row[0];
  float largest = row[0];
  float count = 0.0f;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const float value = row[x];
    smallest = WA_FMIN(smallest, value);
    largest = WA_FMAX(largest, value);
    count += value < low || value > high ? 1.0f : 0.0f;
  }
  least[WA_ITEM_X] = smallest;
  most[WA_ITEM_X] = largest;
  outside[WA_ITEM_X] = count;
  WA_BARRIER();
  for (int reached = COLUMNS / 2; reached > 0; reached /= 2) {
    if (WA_ITEM_X < reached) {
      least[WA_ITEM_X] = WA_FMIN(least[WA_ITEM_X], least[WA_ITEM_X + reached]);
      most[WA_ITEM_X] = WA_FMAX(most[WA_ITEM_X], most[WA_ITEM_X + reached]);
      outside[WA_ITEM_X] += outside[WA_ITEM_X + reached];
    }
    WA_BARRIER();
  }
  if (WA_ITEM_X == 0) {
    extremes[3 * WA_GROUP_X] = least[0];
    extremes[3 * WA_GROUP_X + 1] = most[0];
    extremes[3 * WA_GROUP_X + 2] = outside[0];
  }
}

// Writes 1 at the control points of the voxels of a row whose determinant is below `lowest`. Several
// work-items may write the same value to the same place.
WA_KERNEL(COLUMNS, 1)
deformation_marks(WA_GLOBAL const float* determinants, float lowest, int grid_width,
                  int grid_height, int grid_depth, float first_x, float step_x, float first_y,
                  float step_y, float first_z, float step_z, int width, int height,
                  WA_GLOBAL float* marks) {
  WA_BEGIN();
  const int y = WA_GROUP_X % height;
  const int z = WA_GROUP_X / height;
  const int planes = grid_depth > 1 ? 4 : 1;
  WA_GLOBAL const float* row = determinants + (WA_UINT64)WA_GROUP_X * width;
  float w[4];
  const int iy = wa_grid_weights(WA_FMA((float)y, step_y, first_y), grid_height, w);
  const int iz =
      grid_depth > 1 ? wa_grid_weights(WA_FMA((float)z, step_z, first_z), grid_depth, w) : 0;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    if (row[x] >= lowest) continue;
    const int ix = wa_grid_weights(WA_FMA((float)x, step_x, first_x), grid_width, w);
    for (int k = 0; k < planes; ++k) {
      for (int l = 0; l < 4; ++l) {
        WA_GLOBAL float* m =
            marks + (((WA_UINT64)(iz + k) * grid_height + (iy + l)) * grid_width + ix);
        m[0] = 1.0f;
        m[1] = 1.0f;
        m[2] = 1.0f;
        m[3] = 1.0f;
      }
    }
  }
}

// The sums of a Gauss-Newton step for the affine transform between two volumes, for CPUs: like
// shared/affine_volume_sums.cl, with sixteen neighbouring voxels of a row at a time.
//
// Pairs with a NaN never count, so that marked volumes need no other kernel.
//
// variant: cpu
#define WA_REAL float16
#include "formulas/affine_volume.h"
#include "formulas/bspline.h"
#include "formulas/similarity.h"
#include "lib/quads.h"

// The moving volume's coefficients.
typedef struct {
  global const float* coefficients;
  int width, height, depth;
} MovingVolume;

// The cells of sixteen points that lie inside, and the fractions within them.
typedef struct {
  int16 offsets;  // of the first of the 4 x 4 x 4 coefficients, from `base` on
  global const float* base;
  float16 x, y, z;
} Cells;

WA_INLINE int16 are_inside(float16 at, int size) {
  return at >= 1.0f && at < (float)(size - 2);
}

// The other lanes get the cell of the first point inside; there must be one.
WA_INLINE Cells cells_of(const MovingVolume* moving, float16 x, float16 y, float16 z,
                         int16 inside) {
  const int16 cell_x = convert_int16(x);
  const int16 cell_y = convert_int16(y);
  const int16 cell_z = convert_int16(z);
  int first = 0;
  while (((const int*)&inside)[first] == 0) ++first;
  const int plane = ((const int*)&cell_z)[first] - 1;
  const int row = ((const int*)&cell_y)[first] - 1;
  const int column = ((const int*)&cell_x)[first] - 1;
  const size_t deep = (size_t)moving->width * (size_t)moving->height;
  Cells cells;
  cells.base = moving->coefficients + (size_t)plane * deep +
               (size_t)row * (size_t)moving->width + (size_t)column;
  const int16 down = (cell_z - 1 - plane) * moving->height + (cell_y - 1 - row);
  cells.offsets = (down * moving->width + (cell_x - 1 - column)) & inside;
  cells.x = x - convert_float16(cell_x);
  cells.y = y - convert_float16(cell_y);
  cells.z = z - convert_float16(cell_z);
  return cells;
}

// The spline at sixteen points, and its slopes along x, y and z.
typedef struct {
  float16 value, slopes[3];
} VolumeSplines;

WA_INLINE VolumeSplines splines_in(const MovingVolume* moving, const Cells* cells) {
  float16 wx[4], wy[4], wz[4], dx[4], dy[4], dz[4];
  wa_bspline_weights_3(cells->x, wx);
  wa_bspline_weights_3(cells->y, wy);
  wa_bspline_weights_3(cells->z, wz);
  wa_bspline_derivatives_3(cells->x, dx);
  wa_bspline_derivatives_3(cells->y, dy);
  wa_bspline_derivatives_3(cells->z, dz);
  const size_t deep = (size_t)moving->width * (size_t)moving->height;
  const int* at = (const int*)&cells->offsets;
  float16 sums[4], slopes_y[4], slopes_z[4];
#pragma unroll
  for (int q = 0; q < 4; ++q) sums[q] = slopes_y[q] = slopes_z[q] = 0.0f;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) {
    global const float* rows = cells->base + (size_t)k * deep;
    float16 plane[4], slopes[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) plane[q] = slopes[q] = 0.0f;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const float16 here = load_quad(rows, at, q);
        plane[q] = fma(spread_quad(wy[j], q), here, plane[q]);
        slopes[q] = fma(spread_quad(dy[j], q), here, slopes[q]);
      }
      rows += moving->width;
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      sums[q] = fma(spread_quad(wz[k], q), plane[q], sums[q]);
      slopes_y[q] = fma(spread_quad(wz[k], q), slopes[q], slopes_y[q]);
      slopes_z[q] = fma(spread_quad(dz[k], q), plane[q], slopes_z[q]);
    }
  }
  make_columns(sums);
  make_columns(slopes_y);
  make_columns(slopes_z);
  VolumeSplines splines;
  splines.value = wa_row_of_four(sums[0], sums[1], sums[2], sums[3], wx);
  splines.slopes[0] = wa_row_of_four(sums[0], sums[1], sums[2], sums[3], dx);
  splines.slopes[1] = wa_row_of_four(slopes_y[0], slopes_y[1], slopes_y[2], slopes_y[3], wx);
  splines.slopes[2] = wa_row_of_four(slopes_z[0], slopes_z[1], slopes_z[2], slopes_z[3], wx);
  return splines;
}

// Half the difference of the neighbours at the distance `stride`.
WA_INLINE float16 slope_along(global const float* here, size_t stride, int count) {
  return 0.5f * (load_some(here + stride, count) - load_some(here - stride, count));
}

// `parts` work-items share a state; unit: 2 / the largest of the reference's sides.
SIMD_KERNEL affine_volume_sums(
    global const float* reference, int width, int height, int depth, int margin,
    global const float* coefficients, int moving_width, int moving_height, int moving_depth,
    float unit, global const int* states, int parts, global float* partials) {
  const int number = (int)get_global_id(0) / parts;
  const int part = (int)get_global_id(0) - number * parts;
  const MovingVolume moving = {coefficients, moving_width, moving_height, moving_depth};
  global const int* state = states + number * WA_AFFINE_VOLUME_STATE_WORDS;
  float t[12];
  for (int i = 0; i < 12; ++i) t[i] = as_float(state[i]);
  const float16 gain = as_float(state[12]);
  const float16 offset = as_float(state[13]);
  const float inverse_scale = as_float(state[14]);
  const int inner_height = height - 2 * margin;
  const int rows = state[15] != 0 ? inner_height * (depth - 2 * margin) : 0;
  const int first_row = (int)((ulong)rows * (ulong)part / (ulong)parts);
  const int end_row = (int)((ulong)rows * (ulong)(part + 1) / (ulong)parts);
  const size_t down = (size_t)width;
  const size_t deep = (size_t)width * (size_t)height;

  float16 sums[WA_AFFINE_VOLUME_SUMS];
  for (int i = 0; i < WA_AFFINE_VOLUME_SUMS; ++i) sums[i] = 0.0f;
#pragma unroll 1
  for (int row = first_row; row < end_row; ++row) {
    const int y = row % inner_height + margin;
    const int z = row / inner_height + margin;
    const float uy = (float)y - 0.5f * (float)(height - 1);
    const float uz = (float)z - 0.5f * (float)(depth - 1);
    const float16 x_of_row = fma(t[1], uy, fma(t[2], uz, t[3]));
    const float16 y_of_row = fma(t[5], uy, fma(t[6], uz, t[7]));
    const float16 z_of_row = fma(t[9], uy, fma(t[10], uz, t[11]));
    global const float* r = reference + ((size_t)z * deep + (size_t)y * down);
#pragma unroll 1
    for (int x = margin; x < width - margin; x += 16) {
      const int count = width - margin - x;
      const float16 ux = convert_float16(NUMBERS + x) - 0.5f * (float)(width - 1);
      const float16 px = fma((float16)(t[0]), ux, x_of_row);
      const float16 py = fma((float16)(t[4]), ux, y_of_row);
      const float16 pz = fma((float16)(t[8]), ux, z_of_row);
      const int16 inside = are_inside(px, moving_width) & are_inside(py, moving_height) &
                           are_inside(pz, moving_depth) & (NUMBERS < count);
      if (are_all(~inside)) continue;
      const Cells cells = cells_of(&moving, px, py, pz, inside);
      const VolumeSplines splines = splines_in(&moving, &cells);
      const float16 value = load_some(r + x, count);
      float16 a[3] = {slope_along(r + x, 1, count), slope_along(r + x, down, count),
                      slope_along(r + x, deep, count)};
      // NaN if any voxel in the support is.
      const float16 test = splines.value + value + (a[0] + a[1] + a[2]);
      const int16 counts = inside & (test == test);
      const float16 valid = only((float16)(1.0f), counts);
      float16 slopes[3];
      for (int i = 0; i < 3; ++i) {
        a[i] = only(a[i], counts);
        slopes[i] = only(splines.slopes[i], counts);
      }
      const float16 reference_value = only(value, counts);
      const float16 moving_value = only(splines.value, counts);
      float16 b[3];
      for (int i = 0; i < 3; ++i) {
        b[i] = fma((float16)(t[i]), slopes[0],
                   fma((float16)(t[4 + i]), slopes[1], t[8 + i] * slopes[2]));
      }
      const float16 q[3] = {ux * unit, uy * unit, uz * unit};
      const float16 residual = valid * (moving_value - fma(gain, reference_value, offset));
      wa_affine_volume_add(a, b, q, reference_value, moving_value, residual,
                           valid * wa_tukey_weight(residual, inverse_scale), valid, sums);
    }
  }
  for (int i = 0; i < WA_AFFINE_VOLUME_SUMS; ++i) {
    partials[((size_t)number * WA_AFFINE_VOLUME_SUMS + (size_t)i) * (size_t)parts +
             (size_t)part] = sum_of_lanes(sums[i]);
  }
}

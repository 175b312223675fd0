// The sums of a Gauss-Newton step for the affine transform between two volumes, at several
// transforms.
//
// Options: GROUP, the size of the work-group, a multiple of 16; MARKED, if NaN marks voxels outside
// the mask.
//
// variant: gpu -DGROUP=64
// variant: gpu -DGROUP=64 -DMARKED
#include "formulas/affine_volume.h"
#include "formulas/volume.h"
#include "shared/kernel_language.h"

// The work-items of a group process this many voxels of a row, and GROUP / COLUMNS rows.
#define COLUMNS 16
#define ROWS (GROUP / COLUMNS)

// The value of the spline at a point, and its gradient. `c`: the first of the 4 x 4 x 4
// coefficients.
WA_INLINE void wa_spline_location(WA_GLOBAL const float* c, WA_UINT64 down, WA_UINT64 deep,
                                  const WaVolumeWeights* weights, float* location) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float plane[3] = {0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      WA_GLOBAL const float* p = c + k * deep + j * down;
      wa_volume_add_row(p[0], p[1], p[2], p[3], weights, weights->y[j], weights->dy[j], plane);
    }
    wa_volume_add_plane(plane, weights->z[k], weights->dz[k], location);
  }
}

// Returns 1 for a valid pair; else 0, and sets the values to 0. It has no branch, which would need
// additional registers for the sums.
WA_INLINE float wa_zero_if_invalid(float* reference, float* slope, float* location) {
#ifdef MARKED
  const int counts = wa_volume_is_valid(*reference, slope, location);
  *reference = counts ? *reference : 0.0f;
  for (int i = 0; i < 3; ++i) slope[i] = counts ? slope[i] : 0.0f;
  for (int i = 0; i < 4; ++i) location[i] = counts ? location[i] : 0.0f;
  return counts ? 1.0f : 0.0f;
#else
  return 1.0f;
#endif
}

// `parts` work-groups share a state; unit: 2 / the largest of the reference's sides.
WA_KERNEL(GROUP, 1)
affine_volume_sums(WA_GLOBAL const float* reference, int width, int height, int depth, int margin,
                   WA_GLOBAL const float* moving, int moving_width, int moving_height,
                   int moving_depth, float unit, WA_GLOBAL const int* states, int parts,
                   WA_GLOBAL float* partials) {
  WA_BEGIN();
  WA_LOCAL float shared[WA_AFFINE_VOLUME_SUMS * (GROUP + 1)];
  const int number = WA_GROUP_X / parts;
  const int part = WA_GROUP_X - number * parts;
  WA_GLOBAL const int* state = states + number * WA_AFFINE_VOLUME_STATE_WORDS;
  float t[12];
  for (int i = 0; i < 12; ++i) t[i] = WA_BITS_FLOAT(state[i]);
  const float gain = WA_BITS_FLOAT(state[12]);
  const float offset = WA_BITS_FLOAT(state[13]);
  const float inverse_scale = WA_BITS_FLOAT(state[14]);
  const int inner_height = height - 2 * margin;
  const int rows = state[15] != 0 ? inner_height * (depth - 2 * margin) : 0;
  const int first_row = (int)((WA_UINT64)rows * part / parts);
  const int end_row = (int)((WA_UINT64)rows * (part + 1) / parts);
  const WA_UINT64 down = (WA_UINT64)width;
  const WA_UINT64 deep = (WA_UINT64)width * height;
  const WA_UINT64 moving_down = (WA_UINT64)moving_width;
  const WA_UINT64 moving_deep = (WA_UINT64)moving_width * moving_height;

  float sums[WA_AFFINE_VOLUME_SUMS];
  for (int i = 0; i < WA_AFFINE_VOLUME_SUMS; ++i) sums[i] = 0.0f;
  for (int row = first_row + WA_ITEM_X / COLUMNS; row < end_row; row += ROWS) {
    const int y = row % inner_height + margin;
    const int z = row / inner_height + margin;
    const float uy = (float)y - 0.5f * (float)(height - 1);
    const float uz = (float)z - 0.5f * (float)(depth - 1);
    const float x_of_row = WA_FMA(t[1], uy, WA_FMA(t[2], uz, t[3]));
    const float y_of_row = WA_FMA(t[5], uy, WA_FMA(t[6], uz, t[7]));
    const float z_of_row = WA_FMA(t[9], uy, WA_FMA(t[10], uz, t[11]));
    WA_GLOBAL const float* r = reference + (z * deep + y * down);
    for (int x = margin + WA_ITEM_X % COLUMNS; x < width - margin; x += COLUMNS) {
      const float ux = (float)x - 0.5f * (float)(width - 1);
      const float px = WA_FMA(t[0], ux, x_of_row);
      const float py = WA_FMA(t[4], ux, y_of_row);
      const float pz = WA_FMA(t[8], ux, z_of_row);
      const int inside = px >= 1.0f && px < (float)(moving_width - 2) && py >= 1.0f &&
                         py < (float)(moving_height - 2) && pz >= 1.0f &&
                         pz < (float)(moving_depth - 2);
      if (!inside) continue;
      const int cell_x = (int)px;
      const int cell_y = (int)py;
      const int cell_z = (int)pz;
      WaVolumeWeights weights;
      wa_volume_weights(px - (float)cell_x, py - (float)cell_y, pz - (float)cell_z, &weights);
      float location[4] = {0.0f, 0.0f, 0.0f, 0.0f};
      wa_spline_location(
          moving + ((cell_z - 1) * moving_deep + (cell_y - 1) * moving_down) + (cell_x - 1),
          moving_down, moving_deep, &weights, location);
      WA_GLOBAL const float* here = r + x;
      float value = here[0];
      float a[3] = {0.5f * (here[1] - here[-1]), 0.5f * (here[down] - *(here - down)),
                    0.5f * (here[deep] - *(here - deep))};
      const float valid = wa_zero_if_invalid(&value, a, location);
      const float b[3] = {
          WA_FMA(t[0], location[1], WA_FMA(t[4], location[2], t[8] * location[3])),
          WA_FMA(t[1], location[1], WA_FMA(t[5], location[2], t[9] * location[3])),
          WA_FMA(t[2], location[1], WA_FMA(t[6], location[2], t[10] * location[3]))};
      const float q[3] = {ux * unit, uy * unit, uz * unit};
      const float residual = valid * (location[0] - WA_FMA(gain, value, offset));
      wa_affine_volume_add(a, b, q, value, location[0], residual,
                           valid * wa_tukey_weight(residual, inverse_scale), valid, sums);
    }
  }
#pragma unroll
  for (int i = 0; i < WA_AFFINE_VOLUME_SUMS; ++i) shared[i * (GROUP + 1) + WA_ITEM_X] = sums[i];
  WA_BARRIER();
  for (int i = WA_ITEM_X; i < WA_AFFINE_VOLUME_SUMS; i += GROUP) {
    float sum = 0.0f;
    for (int k = 0; k < GROUP; ++k) sum += shared[i * (GROUP + 1) + k];
    partials[((WA_UINT64)number * WA_AFFINE_VOLUME_SUMS + i) * parts + part] = sum;
  }
}

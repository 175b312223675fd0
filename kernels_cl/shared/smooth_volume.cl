// The cubic B-spline at the voxels of a volume, with the voxels as coefficients. NaN if one of the
// 27 coefficients is NaN, so that no voxel mixes with masked ones.
//
// Option: COLUMNS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=64
#include "formulas/marked_volume.h"
#include "shared/kernel_language.h"

// Smooths along a row, at its voxels `before`, `x` and `after`.
WA_INLINE float wa_smoothed_row(WA_GLOBAL const float* row, int before, int x, int after) {
  return wa_spline_of_three(row[before], row[x], row[after]);
}

// Smooths within a plane; up, here and down: the first voxels of three rows.
WA_INLINE float wa_smoothed_plane(WA_GLOBAL const float* plane, WA_UINT64 up, WA_UINT64 here,
                                  WA_UINT64 down, int before, int x, int after) {
  return wa_spline_of_three(wa_smoothed_row(plane + up, before, x, after),
                            wa_smoothed_row(plane + here, before, x, after),
                            wa_smoothed_row(plane + down, before, x, after));
}

// A work-group processes a row.
WA_KERNEL(COLUMNS, 1)
smooth_volume(WA_GLOBAL const float* volume, int width, int height, int depth,
              WA_GLOBAL float* smoothed) {
  WA_BEGIN();
  const int y = WA_GROUP_X % height;
  const int z = WA_GROUP_X / height;
  const WA_UINT64 across = (WA_UINT64)width;
  const WA_UINT64 deep = across * height;
  WA_GLOBAL const float* above = volume + wa_reflected_before(z, depth) * deep;
  WA_GLOBAL const float* level = volume + z * deep;
  WA_GLOBAL const float* below = volume + wa_reflected_after(z, depth) * deep;
  const WA_UINT64 up = wa_reflected_before(y, height) * across;
  const WA_UINT64 here = y * across;
  const WA_UINT64 down = wa_reflected_after(y, height) * across;
  for (int x = WA_ITEM_X; x < width; x += COLUMNS) {
    const int before = wa_reflected_before(x, width);
    const int after = wa_reflected_after(x, width);
    smoothed[WA_GROUP_X * across + x] =
        wa_spline_of_three(wa_smoothed_plane(above, up, here, down, before, x, after),
                           wa_smoothed_plane(level, up, here, down, before, x, after),
                           wa_smoothed_plane(below, up, here, down, before, x, after));
  }
}

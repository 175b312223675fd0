// The scores of many rotations: how well points with values agree with a volume.
//
// Option: GROUP, the size of the work-group.
//
// variant: gpu -DGROUP=64
#include "shared/kernel_language.h"

WA_INLINE float wa_between(float low, float high, float t) { return WA_FMA(t, high - low, low); }

// A work-group processes a rotation. The volume is a cube of 2 radius + 3 voxels, which contains
// the cells of all rotated points.
WA_KERNEL(GROUP, 1)
rotation_scores(WA_GLOBAL const float* volume, int radius, WA_GLOBAL const float* points,
                int point_count, WA_GLOBAL const float* rotations, WA_GLOBAL float* scores) {
  WA_BEGIN();
  WA_LOCAL float shared[GROUP];
  const int number = WA_GROUP_X;
  float r[9];
  for (int i = 0; i < 9; ++i) r[i] = rotations[number * 9 + i];
  const int side = 2 * radius + 3;
  const float middle = (float)(radius + 1);
  float sum = 0.0f;
  for (int i = WA_ITEM_X; i < point_count; i += GROUP) {
    WA_GLOBAL const float* p = points + 4 * i;
    const float x = WA_FMA(r[0], p[0], WA_FMA(r[1], p[1], WA_FMA(r[2], p[2], middle)));
    const float y = WA_FMA(r[3], p[0], WA_FMA(r[4], p[1], WA_FMA(r[5], p[2], middle)));
    const float z = WA_FMA(r[6], p[0], WA_FMA(r[7], p[1], WA_FMA(r[8], p[2], middle)));
    const int cell_x = (int)x;
    const int cell_y = (int)y;
    const int cell_z = (int)z;
    const float tx = x - (float)cell_x;
    const float ty = y - (float)cell_y;
    WA_GLOBAL const float* c = volume + (cell_z * side + cell_y) * side + cell_x;
    WA_GLOBAL const float* d = c + side * side;
    const float near =
        wa_between(wa_between(c[0], c[1], tx), wa_between(c[side], c[side + 1], tx), ty);
    const float far =
        wa_between(wa_between(d[0], d[1], tx), wa_between(d[side], d[side + 1], tx), ty);
    sum = WA_FMA(p[3], wa_between(near, far, z - (float)cell_z), sum);
  }
  shared[WA_ITEM_X] = sum;
  WA_BARRIER();
  if (WA_ITEM_X == 0) {
    float total = 0.0f;
    for (int k = 0; k < GROUP; ++k) total += shared[k];
    scores[number] = total;
  }
}

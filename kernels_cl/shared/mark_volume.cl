// Converts voxels to floats, and masked and infinite voxels to NaN.
//
// Options: GROUP, the size of the work-group; CHUNK, the voxels of a work-item. The voxels of a
// group's work-items are interleaved, so that neighbouring work-items load neighbouring voxels.
// TYPE_U8 and TYPE_U16, the numbers by which the argument `type` names the types; any other number
// is f32.
//
// variant: gpu -DGROUP=256 -DCHUNK=4 -DTYPE_U8=0 -DTYPE_U16=2
// variant: cpu -DGROUP=1 -DCHUNK=64 -DTYPE_U8=0 -DTYPE_U16=2
#include "formulas/marked_volume.h"
#include "shared/kernel_language.h"

WA_KERNEL(GROUP, 1)
mark_volume(WA_GLOBAL const unsigned char* voxels, int type, WA_GLOBAL const unsigned char* mask,
            WA_UINT64 count, WA_GLOBAL float* marked) {
  WA_BEGIN();
  const WA_UINT64 first = (WA_UINT64)WA_GROUP_X * (GROUP * CHUNK) + WA_ITEM_X;
  for (int k = 0; k < CHUNK; ++k) {
    const WA_UINT64 i = first + k * GROUP;
    if (i >= count) return;
    float value;
    if (type == TYPE_U8) {
      value = (float)voxels[i];
    } else if (type == TYPE_U16) {
      value = (float)((WA_GLOBAL const unsigned short*)voxels)[i];
    } else {
      value = ((WA_GLOBAL const float*)voxels)[i];
    }
    marked[i] = mask[i] != 0 && isfinite(value) ? value : WA_MARK;
  }
}

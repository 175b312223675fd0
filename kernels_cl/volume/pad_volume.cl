// Subtracts an offset from a volume's voxels, scales and tapers them, and copies them to a padded
// frame.
//
// Options: PIXEL_U8, PIXEL_U16 or PIXEL_F32; MARKED, if NaN marks voxels outside the mask.
//
// variant: gpu -DPIXEL_U8
// variant: gpu -DPIXEL_F32
// variant: gpu -DPIXEL_F32 -DMARKED
#include "formulas/marked_volume.h"
#include "formulas/window.h"
#include "lib/grid.h"
#include "lib/pixels.h"

// size, padded_size: (width, height, depth, 0); ramp: the length of the taper, in voxels.
kernel void pad_volume(global const Pixel* input, int4 size, float offset, float scale, float4 ramp,
                       global float* padded, int4 padded_size) {
  const Item item = patch_item(padded_size.x);
  const int x = item.x;
  if (x >= padded_size.x || item.y >= padded_size.y * padded_size.z) return;
  const int y = item.y % padded_size.y;
  const int z = item.y / padded_size.y;
  float result = 0.0f;
  if (x < size.x && y < size.y && z < size.z) {
    const size_t at = ((size_t)z * (size_t)size.y + (size_t)y) * (size_t)size.x + (size_t)x;
    const float weight = wa_tukey_window(x, size.x, ramp.x) * wa_tukey_window(y, size.y, ramp.y) *
                         wa_tukey_window(z, size.z, ramp.z);
    result = (LOAD_PIXEL(input, at) - offset) * scale * weight;
#ifdef MARKED
    if (wa_is_marked(result)) result = 0.0f;
#endif
  }
  padded[(size_t)item.y * (size_t)padded_size.x + (size_t)x] = result;
}

// Means of neighbouring voxels along the axes that are halved, over those that are not NaN; NaN if
// fewer than half of them are valid.
//
// Option: COLUMNS, the size of the work-group.
//
// variant: gpu -DCOLUMNS=64
#include "formulas/marked_volume.h"
#include "shared/kernel_language.h"

// A work-group processes a row of the output, whose sides are `halved_width` and `halved_height`.
// across, down, deep: 2 along an axis that is halved, else 1.
WA_KERNEL(COLUMNS, 1)
halve_volume(WA_GLOBAL const float* volume, int width, int height, int across, int down, int deep,
             WA_GLOBAL float* halved, int halved_width, int halved_height) {
  WA_BEGIN();
  const int first_y = WA_GROUP_X % halved_height * down;
  const int first_z = WA_GROUP_X / halved_height * deep;
  for (int x = WA_ITEM_X; x < halved_width; x += COLUMNS) {
    float sum = 0.0f;
    int count = 0;
    for (int k = 0; k < deep; ++k) {
      for (int j = 0; j < down; ++j) {
        WA_GLOBAL const float* row =
            volume + ((WA_UINT64)(first_z + k) * height + (first_y + j)) * width;
        for (int i = 0; i < across; ++i) {
          const float value = row[x * across + i];
          if (wa_is_marked(value)) continue;
          sum += value;
          ++count;
        }
      }
    }
    const float mean = sum / (float)(count > 0 ? count : 1);
    halved[(WA_UINT64)WA_GROUP_X * halved_width + x] =
        2 * count >= across * down * deep ? mean : WA_MARK;
  }
}

// The maximum of every brick of a volume, one work-item per brick.
//
// variant: gpu
#include "lib/grid.h"
#include "lib/launch.h"

#define BRICK_X WA_BRICK_X
#define BRICK_Y WA_BRICK_Y
#define BRICK_Z WA_BRICK_Z

typedef struct {
  float value;
  uint position;  // row-major within a whole brick
} Record;

// Whether index i of a periodic axis of n is within reach of 0; a reach of 0 admits any index.
inline bool within_reach(int i, int n, int reach) {
  return reach == 0 || i <= reach || n - i <= reach;
}

// size: (width, height, depth, 0); bricks: their number along each axis.
kernel void volume_peaks(global const float* surface, int4 size, int4 reach, int4 bricks,
                         global Record* records) {
  const Item item = patch_item(bricks.x);
  if (item.x >= bricks.x || item.y >= bricks.y * bricks.z) return;
  const int x0 = item.x * BRICK_X;
  const int y0 = (item.y % bricks.y) * BRICK_Y;
  const int z0 = (item.y / bricks.y) * BRICK_Z;
  Record best = {-INFINITY, 0u};
  for (int k = 0; k < BRICK_Z; ++k) {
    const int z = z0 + k;
    if (z >= size.z || !within_reach(z, size.z, reach.z)) continue;
    for (int j = 0; j < BRICK_Y; ++j) {
      const int y = y0 + j;
      if (y >= size.y || !within_reach(y, size.y, reach.y)) continue;
      global const float* row =
          surface + ((size_t)z * (size_t)size.y + (size_t)y) * (size_t)size.x + (size_t)x0;
      for (int i = 0; i < BRICK_X; ++i) {
        if (x0 + i >= size.x || !within_reach(x0 + i, size.x, reach.x)) continue;
        const float value = row[i];
        if (value > best.value) {
          best.value = value;
          best.position = (uint)((k * BRICK_Y + j) * BRICK_X + i);
        }
      }
    }
  }
  records[(size_t)item.y * (size_t)bricks.x + (size_t)item.x] = best;
}

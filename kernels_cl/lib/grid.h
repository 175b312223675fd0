// The element of a plane that a work-item processes, for OpenCL kernels only (see
// opencl::patches()).
#ifndef WARPALIGN_LIB_GRID_H
#define WARPALIGN_LIB_GRID_H

#include "formulas/language.h"

typedef struct {
  int x, y;
} Item;

// Work-groups are patches of a plane that is `width` elements wide, numbered along the first axis
// only: some drivers allow at most 65535 groups along the others.
WA_INLINE Item patch_item(int width) {
  const int columns = (int)get_local_size(0);
  const int across = (width + columns - 1) / columns;
  const int patch = (int)get_group_id(0);
  const int patch_y = patch / across;
  const int patch_x = patch - patch_y * across;
  const Item item = {patch_x * columns + (int)get_local_id(0),
                     patch_y * (int)get_local_size(1) + (int)get_local_id(1)};
  return item;
}

#endif

// Kernels for batches of arrays, one after the other in memory, for OpenCL kernels only.
//
// With the option BATCH a kernel takes its transform from a table instead of its arguments: one
// entry for each array, or one for all (`each` is 0). Without it, the kernel processes a single
// array.
//
// Work-groups that each process a tile are numbered array by array along the first axis; each array
// has `groups` of them.
#ifndef WARPALIGN_LIB_BATCH_H
#define WARPALIGN_LIB_BATCH_H

#ifdef BATCH
#define TILE_BATCH_PARAMETERS(Entry) , global const Entry *entries, int each, int groups
#define ARRAY ((int)get_group_id(0) / groups)
#define GROUP_OF_ARRAY ((int)get_group_id(0) % groups)
#define SHIFT_TO_ARRAY(pointer, width, height, depth) \
  pointer += (size_t)ARRAY * ((size_t)(width) * (size_t)(height) * (size_t)(depth))
// Loads the axes of the group's array from the table, by the kernel's TAKE_AXIS, and moves `input`
// and the output to that array.
#define TAKE_ARRAY_OF_GROUP(Entry, input)             \
  global const Entry* entry = entries + ARRAY * each; \
  TAKE_AXIS(x);                                       \
  TAKE_AXIS(y);                                       \
  TAKE_AXIS(z);                                       \
  SHIFT_TO_ARRAY(input, width, height, depth);        \
  SHIFT_TO_ARRAY(output, output_width, output_height, output_depth)
#else
#define TAKE_ARRAY_OF_GROUP(Entry, input)
#define TILE_BATCH_PARAMETERS(Entry)
#define GROUP_OF_ARRAY ((int)get_group_id(0))
#endif

#endif

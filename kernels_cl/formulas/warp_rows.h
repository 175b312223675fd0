// The matrices of a warp by a displacement field, in the form that the kernel takes: an argument
// that the host passes by value.
#ifndef WARPALIGN_FORMULAS_WARP_ROWS_H
#define WARPALIGN_FORMULAS_WARP_ROWS_H

// A row of a matrix for (x, y, z, 1): its entries as floats, and their rounding errors
// (formulas/affine.h).
typedef struct {
  float high[4];
  float low[4];
} WaTwoFloatRow;

// to_input: from output pixels to homogeneous coordinates in the image, without displacements;
// to_index: from output pixels to indices of the field; linear: from displacements to the
// homogeneous coordinates that they add.
typedef struct {
  WaTwoFloatRow to_input[4];
  WaTwoFloatRow to_index[3];
  float linear[4][3];
} WaWarpRows;

#endif

// The tiles of warp_by_field.cl, which its host code shares.
#ifndef WARPALIGN_FORMULAS_WARP_TILES_H
#define WARPALIGN_FORMULAS_WARP_TILES_H

// The work-items of a group, and the pixels of its tile. A warp of 32 takes 16 voxels of a
// row from each of two planes: distances between planes of the copy can be chosen freely, so that
// these halves do not conflict in the banks of the local memory.
#define WA_WARP_GROUP 256
#define WA_WARP_TILE_X(dimensions) ((dimensions) > 2 ? 16 : 32)
#define WA_WARP_TILE_Y(dimensions) ((dimensions) > 2 ? 8 : 32)
#define WA_WARP_TILE_Z(dimensions) ((dimensions) > 2 ? 4 : 1)
#define WA_WARP_TILE_PIXELS(dimensions) ((dimensions) > 2 ? 512 : 1024)

// The floats of local memory for a copy of coefficients. The box of a tile whose points keep their
// distances has 19 x 11 x 7 coefficients; this is enough for 1.6 times as many along each axis.
#define WA_WARP_COPY 6144

#endif

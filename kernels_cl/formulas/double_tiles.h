// The tiles of output pixels that a group of a GPU evaluates in double precision (double_points.h).
#ifndef WARPALIGN_FORMULAS_DOUBLE_TILES_H
#define WARPALIGN_FORMULAS_DOUBLE_TILES_H

// Lines of a tile. Lower images have tiles of one line.
#define WA_TILE_LINES 32

#endif

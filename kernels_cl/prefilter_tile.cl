// The exact B-spline prefilter for GPUs (and CPUs without vectors): a tile and its halo in local
// memory, rows, then columns.
//
// The recursion of each pole starts a halo before the tile, from what it would have settled at on a
// constant signal; over the halo it forgets that start to single precision. Samples beyond the
// image are found by the boundary rule when they are loaded, which is all that boundaries need. One
// read and one write of global memory for two filtered axes.
//
// Options: the pixel's type (formulas/opencl_pixels.h); EXTENSION; TILE_X, TILE_Y: coefficients of
// a tile; HALO_X, HALO_Y: 0 where that axis is not filtered; POLE_0, POLE_1 (with TWO_POLES); GAIN
// of all filtered axes together; STEP: floats from one sample of a row to the next; COMPLEX; GROUP.
#include "formulas/boundary.h"
#include "formulas/bspline.h"
#include "formulas/opencl_pixels.h"

#define ACROSS (TILE_X + 2 * HALO_X)
#define DOWN (TILE_Y + 2 * HALO_Y)
// Odd, so that neighbouring rows stand in different banks.
#define PITCH (ACROSS | 1)

// Both recursions of one pole over n values, `stride` apart.
WA_INLINE void filter_pole(local float* line, int stride, int n, float z) {
  float value = wa_prefilter_causal_start(line[0], z);
  line[0] = value;
#pragma unroll 4
  for (int k = 1; k < n; ++k) {
    value = wa_prefilter_causal(line[k * stride], z, value);
    line[k * stride] = value;
  }
  value = wa_prefilter_causal_start(value, z);
  line[(n - 1) * stride] = value;
#pragma unroll 4
  for (int k = n - 2; k >= 0; --k) {
    value = wa_prefilter_causal(line[k * stride], z, value);
    line[k * stride] = value;
  }
}

WA_INLINE void filter_line(local float* line, int stride, int n) {
  filter_pole(line, stride, n, POLE_0);
#ifdef TWO_POLES
  filter_pole(line, stride, n, POLE_1);
#endif
}

WA_INLINE int index_along(int position, int n, int filtered) {
  return filtered ? wa_extend(EXTENSION, position, n) : min(position, n - 1);
}

// Sample (x, y) of an extended plane; fill_value where there is none.
WA_INLINE float sample_at(global const Pixel* plane, ulong pitch, int x, int y, int n_x, int n_y,
                          float fill_value) {
  const int column = index_along(x, n_x, HALO_X > 0);
  const int row = index_along(y, n_y, HALO_Y > 0);
  if (column < 0 || row < 0) return fill_value;
  return LOAD_PIXEL(plane, (size_t)row * pitch + (size_t)(column * STEP));
}

WA_INLINE void load_tile(local float* tile, global const Pixel* plane, ulong pitch, int first_x,
                         int first_y, int n_x, int n_y, float cval) {
  const bool inside =
      first_x >= 0 && first_x + ACROSS <= n_x && first_y >= 0 && first_y + DOWN <= n_y;
  for (int i = (int)get_local_id(0); i < ACROSS * DOWN; i += GROUP) {
    const int x = i % ACROSS;
    const int y = i / ACROSS;
    if (inside) {
      tile[y * PITCH + x] =
          LOAD_PIXEL(plane, (size_t)(first_y + y) * pitch + (size_t)((first_x + x) * STEP));
      continue;
    }
    float fill_value = cval;
#if defined(COMPLEX) && STEP == 1
    if (((first_x + x) & 1) != 0) fill_value = 0.0f;
#endif
    tile[y * PITCH + x] = sample_at(plane, pitch, first_x + x, first_y + y, n_x, n_y, fill_value);
  }
}

// Planes of n_x x n_y samples give planes of out_x x out_y coefficients, `margin` more on either
// side of each filtered axis. Pitches and slices count floats (or pixels) between rows and planes.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void prefilter_tile(
    global const Pixel* source, ulong source_pitch, ulong source_slice, int n_x, int n_y,
    global float* target, ulong target_pitch, ulong target_slice, int out_x, int out_y, int margin,
    int tiles_x, int tiles_y, float cval) {
  local float tile[DOWN * PITCH];
  const int item = (int)get_local_id(0);
  // Tiles are numbered along one axis: some drivers take no more than 65535 groups along others.
  const int row_of_tiles = (int)get_group_id(0) / tiles_x;
  const int tile_x = ((int)get_group_id(0) - row_of_tiles * tiles_x) * TILE_X;
  const int plane = row_of_tiles / tiles_y;
  const int tile_y = (row_of_tiles - plane * tiles_y) * TILE_Y;
  const int component = plane % STEP;
  const size_t slice = (size_t)(plane / STEP);
  load_tile(tile, source + slice * source_slice + component, source_pitch,
            tile_x - HALO_X - (HALO_X > 0 ? margin : 0),
            tile_y - HALO_Y - (HALO_Y > 0 ? margin : 0), n_x, n_y, component == 0 ? cval : 0.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
#if HALO_X > 0
  for (int line = item; line < DOWN; line += GROUP) filter_line(tile + line * PITCH, 1, ACROSS);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if HALO_Y > 0
  for (int line = item; line < TILE_X; line += GROUP) {
    filter_line(tile + HALO_X + line, PITCH, DOWN);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  global float* result = target + slice * target_slice + component;
  for (int i = item; i < TILE_X * TILE_Y; i += GROUP) {
    const int x = i % TILE_X;
    const int y = i / TILE_X;
    if (tile_x + x >= out_x || tile_y + y >= out_y) continue;
    result[(size_t)(tile_y + y) * target_pitch + (size_t)((tile_x + x) * STEP)] =
        GAIN * tile[(y + HALO_Y) * PITCH + x + HALO_X];
  }
}

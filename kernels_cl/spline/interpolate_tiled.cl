// B-spline evaluation under an affine transform, for GPUs (and CPUs without vectors; cubic volumes
// use interpolate_volume.cl). For each tile of the output, the kernel copies the coefficients that
// it needs to local memory.
//
// A point is at most 2^8 away from the corner of the copy. The transform's matrix is split into
// multiples of 2^-16 (`high`), for which sums of products are exact in float, and a remainder
// (`low`), which is added to the fraction (core: backend::tile_source()).
//
// Options: DEGREE 3 to 5 (at lower degrees the spline is not smooth enough at its knots: rounding
// moves points across them); DIMENSIONS 2 or 3; PITCH, the distance between rows in local memory;
// EXTENSION; POINTS_FREE, POINTS_REJECT or POINTS_CLAMP; one of OUTPUT_U8, OUTPUT_U16, OUTPUT_F16,
// OUTPUT_F32; BATCH (lib/batch.h).
//
// variant: gpu -DDEGREE=3 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_REJECT -DOUTPUT_F32 -DPITCH=96
// variant: gpu -DDEGREE=5 -DDIMENSIONS=2 -DEXTENSION=4 -DPOINTS_FREE -DOUTPUT_U8 -DPITCH=100
// variant: gpu -DDEGREE=4 -DDIMENSIONS=3 -DEXTENSION=3 -DPOINTS_CLAMP -DOUTPUT_F16 -DPITCH=32
// variant: gpu -DDEGREE=5 -DDIMENSIONS=3 -DEXTENSION=0 -DPOINTS_REJECT -DOUTPUT_F32 -DPITCH=32
// variant: gpu -DDEGREE=3 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_REJECT -DOUTPUT_F32 -DPITCH=96 -DBATCH
// variant: gpu -DDEGREE=5 -DDIMENSIONS=3 -DEXTENSION=0 -DPOINTS_REJECT -DOUTPUT_F32 -DPITCH=32 -DBATCH
#include "lib/batch.h"
#include "lib/launch.h"
#include "lib/output.h"
#include "lib/spline_points.h"

// The pixels of a tile at which a group's work-items start: 32 neighbouring work-items cover 32 x 1
// pixels of a plane, or 16 x 1 x 2 of a volume. From there each proceeds in steps along y and z.
#define GROUP WA_TILED_GROUP
#if DIMENSIONS == 2
#define TILE_X 64
#define STEP_Y (GROUP / TILE_X)
#define FIRST_Y(item) ((item) / TILE_X)
#define COPY_LANES 32  // work-items that copy a row, four coefficients each
#else
#define TILE_X 16
#define STEP_Z 2
#define STEP_Y (GROUP / TILE_X / STEP_Z)
#define FIRST_Z(item) ((item) / TILE_X % STEP_Z)
#define FIRST_Y(item) ((item) / (TILE_X * STEP_Z))
#define COPY_LANES 8
#endif
#define MAX_COPY_WIDTH (COPY_LANES * 4)
#define COPY_ROWS (GROUP / COPY_LANES)
#define COPIES 4  // loads in flight at once

// Adding this number leaves the nearest integer, unless it is negative, in the low bits of a float.
#define MAGIC 12582912.0f  // 1.5 * 2^23
#define MAGIC_MASK 0x3fffff
#if DEGREE % 2 == 0
#define SHIFT 0.0f
#else
#define SHIFT 0.5f  // floor(x) is rint(x - 1/2)
#endif

// Arguments that are the same for every work-item: a row of the transform about the output's
// centre, and the part that float cannot hold; the row's split; the minimum coordinate of a tile,
// relative to its first point; the copy's extent.
#define AXIS_PARAMETERS(i) \
  float4 row_##i, float4 rest_##i, float4 high_##i, float4 low_##i, float min_##i, int extent_##i

// The copy on one axis: its first coefficient, and the tile's first point relative to it.
typedef struct {
  int corner;
  float high, low;
} Location;

// Locates on one axis the copy for the tile that begins at (dx, dy, dz) from the output's centre.
// The corner is a multiple of `alignment`.
WA_INLINE Location locate_tile(float4 row, float4 rest, float minimum, float dx, float dy, float dz,
                               int margin, int alignment) {
  float high, low;
  int whole;
  transformed(row, rest, dx, dy, dz, &high, &low);
  const float fraction = wa_split(high, low, &whole);
  const float coarse = rint(fraction * 0x1p+16f) * 0x1p-16f;
  Location location;
  location.corner = (whole + (int)floor(fraction + minimum) + margin - DEGREE / 2 - 1) & -alignment;
  location.high = (float)(whole + margin - location.corner) + coarse;
  location.low = fraction - coarse;
  return location;
}

// The parameters of a work-item on one axis.
typedef struct {
  int n;  // coefficients, margins included
  int margin;
  int extent, corner;          // of the copy
  float4 row, rest;            // of the transform
  float high, low;             // from the corner to the work-item, at (x, 0, 0) of the tile
  float2 step_high, step_low;  // of that coordinate along y and z
} Axis;

#define AXIS(i, location, n) \
  axis_of(location, n, margin, row_##i, rest_##i, high_##i, low_##i, extent_##i)

WA_INLINE Axis axis_of(Location location, int n, int margin, float4 row, float4 rest, float4 high,
                       float4 low, int extent) {
  const float x = (float)((int)get_local_id(0) % TILE_X);
  Axis axis;
  axis.n = n;
  axis.margin = margin;
  axis.extent = extent;
  axis.corner = location.corner;
  axis.row = row;
  axis.rest = rest;
  axis.high = fma(x, high.x, location.high) - SHIFT;
  axis.low = fma(x, low.x, location.low) + SHIFT;
  axis.step_high = high.yz;
  axis.step_low = low.yz;
  return axis;
}

WA_INLINE bool is_inside(Axis axis) {
  return axis.corner >= 0 && axis.corner + axis.extent <= axis.n;
}
WA_INLINE bool is_outside(Axis axis) {
  return axis.corner + axis.extent <= 0 || axis.corner >= axis.n;
}

// The work-item's coordinate at y of the tile: returns the integer part relative to the copy's
// corner, and puts the fraction, within the weights' range, in *t.
WA_INLINE int split_coordinate(Axis axis, float y, float* t) {
  const float at = fma(y, axis.step_high.x, axis.high);
  const float whole = at + MAGIC;
  *t = (at - (whole - MAGIC)) + fma(y, axis.step_low.x, axis.low);
  return as_int(whole) & MAGIC_MASK;
}

#if DIMENSIONS == 3
WA_INLINE Axis go_along_z(Axis axis, float z) {
  axis.high = fma(z, axis.step_high.y, axis.high);
  axis.low = fma(z, axis.step_low.y, axis.low);
  return axis;
}
#endif

// The copy's rows, and the location of each.
typedef struct {
  Axis y, z;
  int plane;                 // distance between planes in local memory
  int count;                 // number of rows in all planes
  float inverse_plane_rows;  // 1 / rows of a plane
} Rows;

// The plane of a row: row / y.extent, computed in float.
WA_INLINE int plane_of(Rows rows, int row) {
  return DIMENSIONS == 2 ? 0 : (int)(((float)row + 0.5f) * rows.inverse_plane_rows);
}

// Copies coefficients for a tile whose copy lies within the array and whose rows begin at words.
WA_INLINE void copy_inside(global const float* coefficients, Axis x, Rows rows, local float* copy) {
  const int item = (int)get_local_id(0);
  const int column = item % COPY_LANES * 4;
  if (column < x.extent) {
    global const float* from = coefficients + x.corner + column;
    for (int first = item / COPY_LANES; first < rows.count; first += COPIES * COPY_ROWS) {
      float4 words[COPIES];
#pragma unroll
      for (int i = 0; i < COPIES; ++i) {
        const int row = min(first + i * COPY_ROWS, rows.count - 1);
        const int plane = plane_of(rows, row);
        const int y = rows.y.corner + row - plane * rows.y.extent;
        const long number = DIMENSIONS == 2 ? y : (long)(rows.z.corner + plane) * rows.y.n + y;
        words[i] = *(global const float4*)(from + number * x.n);
      }
#pragma unroll
      for (int i = 0; i < COPIES; ++i) {
        const int row = first + i * COPY_ROWS;
        const int plane = plane_of(rows, row);
        const int at = plane * rows.plane + (row - plane * rows.y.extent) * PITCH + column;
        if (row < rows.count) *(local float4*)(copy + at) = words[i];
      }
    }
  }
}

// Makes any copy, coefficient by coefficient, extended by the boundary rule. `columns` has the
// position of each column.
WA_INLINE void copy_extended(global const float* coefficients, Axis x, Rows rows, float cval,
                             local const int* columns, local float* copy) {
  const int item = (int)get_local_id(0);
  for (int row = item / 32; row < rows.count; row += GROUP / 32) {
    const int plane = plane_of(rows, row);
    const int row_of_plane = row - plane * rows.y.extent;
    const int y = wa_extend(EXTENSION, rows.y.corner + row_of_plane, rows.y.n);
    const int z = DIMENSIONS == 2 ? 0 : wa_extend(EXTENSION, rows.z.corner + plane, rows.z.n);
    global const float* from = coefficients + ((long)max(z, 0) * rows.y.n + max(y, 0)) * x.n;
    local float* to = copy + plane * rows.plane + row_of_plane * PITCH;
    for (int i = item % 32; i < x.extent; i += 32) {
      to[i] = y >= 0 && z >= 0 && columns[i] >= 0 ? from[columns[i]] : cval;
    }
  }
}

// The weighted sum over a plane of neighbours, from the first neighbour on.
WA_INLINE float sum_plane(local const float* first, const float* wx, const float* wy) {
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < TAPS; ++j) {
    local const float* row = first + j * PITCH;
    float sum_row = wx[0] * row[0];
#pragma unroll
    for (int i = 1; i < TAPS; ++i) sum_row = fma(wx[i], row[i], sum_row);
    sum = fma(wy[j], sum_row, sum);
  }
  return sum;
}

WA_INLINE float sum_neighbours(local const float* first, const float* t, Rows rows) {
  float wx[TAPS], wy[TAPS];
  WEIGHTS(t[0], wx);
  WEIGHTS(t[1], wy);
#if DIMENSIONS == 2
  return sum_plane(first, wx, wy);
#else
  float wz[TAPS], sum = 0.0f;
  WEIGHTS(t[2], wz);
#pragma unroll
  for (int k = 0; k < TAPS; ++k) {
    sum = fma(wz[k], sum_plane(first + k * rows.plane, wx, wy), sum);
  }
  return sum;
#endif
}

// Whether the spline has a value at `from_corner` + t. Only if rounding might matter, it applies
// the boundary rule itself, to the pixel (dx, dy, dz) from the output's centre.
WA_INLINE bool has_value(Axis axis, int from_corner, float t, float dx, float dy, float dz) {
  const float tolerance = 1e-3f;
  const int whole = from_corner + axis.corner - axis.margin;
  const int samples = axis.n - 2 * axis.margin;
  const float below = (float)whole + t;
  const float above = (float)(whole - (samples - 1)) + t;
  if (below < -tolerance || above > tolerance) return false;
  if (below > tolerance && above < -tolerance) return true;
  float high, low, fraction;
  int found;
  transformed(axis.row, axis.rest, dx, dy, dz, &high, &low);
  wa_snap(&high, &low);
  return split_point(high, low, samples, &found, &fraction);
}

// A tile of the output: its first pixel relative to the output's centre, and its size within the
// output.
typedef struct {
  float dx, dy, dz;
  int count_y, count_z;
} Tile;

#define OUTPUT_PARAMETERS global Output *output, int output_width, int output_height
#define OUTPUT_ARGUMENTS output, output_width, output_height

// Computes a work-item's pixels of one plane, z, of a tile; `index` is that of the first. `check`:
// points outside have the value cval.
WA_INLINE void evaluate_plane(Tile tile, Axis x, Rows rows, int z, local const float* copy,
                              float cval, bool check, OUTPUT_PARAMETERS, size_t index) {
  const int item = (int)get_local_id(0);
  const size_t stride = (size_t)output_width * STEP_Y;
#if DIMENSIONS == 2
#pragma unroll 2
#else
  x = go_along_z(x, (float)z);
  rows.y = go_along_z(rows.y, (float)z);
  rows.z = go_along_z(rows.z, (float)z);
#pragma unroll 1
#endif
  for (int y = FIRST_Y(item); y < tile.count_y; y += STEP_Y, index += stride) {
    float t[DIMENSIONS];
    const int at_x = split_coordinate(x, (float)y, &t[0]);
    const int at_y = split_coordinate(rows.y, (float)y, &t[1]);
    int first = (at_y - DEGREE / 2) * PITCH + at_x - DEGREE / 2;
#if DIMENSIONS == 3
    const int at_z = split_coordinate(rows.z, (float)y, &t[2]);
    first += (at_z - DEGREE / 2) * rows.plane;
#endif
    const float dx = tile.dx + (float)(item % TILE_X);
    const float dy = tile.dy + (float)y;
    const float dz = tile.dz + (float)z;
#if DIMENSIONS == 2
    float value = sum_neighbours(copy + first, t, rows);
    if (check &&
        !(has_value(x, at_x, t[0], dx, dy, dz) && has_value(rows.y, at_y, t[1], dx, dy, dz))) {
      value = cval;
    }
    STORE(output, index, value);
#else
    // The sum comes last. Before the check, it would keep up to 216 loaded coefficients waiting in
    // registers.
    const bool exists = !check || (has_value(x, at_x, t[0], dx, dy, dz) &&
                                   has_value(rows.y, at_y, t[1], dx, dy, dz) &&
                                   has_value(rows.z, at_z, t[2], dx, dy, dz));
    STORE(output, index, exists ? sum_neighbours(copy + first, t, rows) : cval);
#endif
  }
}

// Computes a work-item's pixels of a tile; `index` would be that of the first if its z were 0.
WA_INLINE void evaluate_tile(Tile tile, Axis x, Rows rows, local const float* copy, float cval,
                             bool check, OUTPUT_PARAMETERS, size_t index) {
#if DIMENSIONS == 2
  evaluate_plane(tile, x, rows, 0, copy, cval, check, OUTPUT_ARGUMENTS, index);
#else
  const size_t stride = (size_t)output_width * (size_t)output_height;
#pragma unroll 1
  for (int z = FIRST_Z((int)get_local_id(0)); z < tile.count_z; z += STEP_Z) {
    evaluate_plane(tile, x, rows, z, copy, cval, check, OUTPUT_ARGUMENTS,
                   index + (size_t)z * stride);
  }
#endif
}

WA_INLINE void blank_tile(Tile tile, float cval, OUTPUT_PARAMETERS, size_t index) {
  const int item = (int)get_local_id(0);
  const size_t stride = (size_t)output_width * (size_t)output_height;
#if DIMENSIONS == 2
  const int z = 0;
#else
  for (int z = FIRST_Z(item); z < tile.count_z; z += STEP_Z)
#endif
  {
    size_t at = index + (size_t)z * stride;
    for (int y = FIRST_Y(item); y < tile.count_y; y += STEP_Y) {
      STORE(output, at, cval);
      at += (size_t)output_width * STEP_Y;
    }
  }
}

#ifdef BATCH
// An entry of the table of a batch: AXIS_PARAMETERS of all axes.
typedef struct {
  float4 row_x, rest_x, high_x, low_x, row_y, rest_y, high_y, low_y, row_z, rest_z, high_z, low_z;
  float min_x, min_y, min_z;
  int extent_x, extent_y, extent_z;
} AxesOfArray;

#define TAKE_AXIS(i)          \
  row_##i = entry->row_##i;   \
  rest_##i = entry->rest_##i; \
  high_##i = entry->high_##i; \
  low_##i = entry->low_##i;   \
  min_##i = entry->min_##i;   \
  extent_##i = entry->extent_##i
#endif

// A work-group processes a tile of TILE_X x tile_y x tile_z pixels; tiles are numbered along x,
// then y, then z. `words`: rows of coefficients begin at words. `copy_words` (words, so that
// drivers align it as such) is the copy, whose planes are `plane` apart.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void interpolate_tiled(
    global const float* restrict coefficients, int width, int height, int depth, int margin,
    float cval, AXIS_PARAMETERS(x), AXIS_PARAMETERS(y), AXIS_PARAMETERS(z), int centre_x,
    int centre_y, int centre_z, int tile_y, int tile_z, int words, int plane,
    local float4* copy_words, global Output* restrict output, int output_width, int output_height,
    int output_depth TILE_BATCH_PARAMETERS(AxesOfArray)) {
  TAKE_ARRAY_OF_GROUP(AxesOfArray, coefficients);
  local int columns[MAX_COPY_WIDTH];
  const int item = (int)get_local_id(0);
  const int across = (output_width + TILE_X - 1) / TILE_X;
  const int down = (output_height + tile_y - 1) / tile_y;
  const int number = GROUP_OF_ARRAY / across;
  const int first_x = (GROUP_OF_ARRAY - number * across) * TILE_X;
  const int first_z = number / down * tile_z;
  const int first_y = (number - number / down * down) * tile_y;
  const float dx = (float)(first_x - centre_x);
  const float dy = (float)(first_y - centre_y);
  const float dz = (float)(first_z - centre_z);
#if DIMENSIONS == 2
  const Location locations[2] = {locate_tile(row_x, rest_x, min_x, dx, dy, dz, margin, 4),
                                 locate_tile(row_y, rest_y, min_y, dx, dy, dz, margin, 1)};
#else
  // There are few pixels per work-item, so one work-item per axis locates the tile for all.
  local Location locations[3];
  if (item == 0) locations[0] = locate_tile(row_x, rest_x, min_x, dx, dy, dz, margin, 4);
  if (item == 64) locations[1] = locate_tile(row_y, rest_y, min_y, dx, dy, dz, margin, 1);
  if (item == 128) locations[2] = locate_tile(row_z, rest_z, min_z, dx, dy, dz, margin, 1);
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  const Axis x = AXIS(x, locations[0], width);
  Rows rows;
  rows.y = AXIS(y, locations[1], height);
  rows.plane = plane;
  rows.inverse_plane_rows = 1.0f / (float)extent_y;
#if DIMENSIONS == 2
  rows.z = rows.y;
  rows.count = extent_y;
  const bool inside = is_inside(x) && is_inside(rows.y);
  const bool outside = is_outside(x) || is_outside(rows.y);
#else
  rows.z = AXIS(z, locations[2], depth);
  rows.count = extent_y * extent_z;
  const bool inside = is_inside(x) && is_inside(rows.y) && is_inside(rows.z);
  const bool outside = is_outside(x) || is_outside(rows.y) || is_outside(rows.z);
#endif

  const int out_x = first_x + item % TILE_X;
  const Tile tile = {dx, dy, dz, out_x < output_width ? min(tile_y, output_height - first_y) : 0,
                     min(tile_z, output_depth - first_z)};
  const size_t row = (size_t)first_z * (size_t)output_height + (size_t)(first_y + FIRST_Y(item));
  const size_t index = row * (size_t)output_width + (size_t)out_x;
#ifdef POINTS_REJECT
  if (outside) {
    blank_tile(tile, cval, OUTPUT_ARGUMENTS, index);
    return;
  }
  const bool check = !inside;
#else
  const bool check = false;
#endif
  local float* copy = (local float*)copy_words;
  if (inside && words != 0) {
    copy_inside(coefficients, x, rows, copy);
  } else {
    if (item < extent_x) columns[item] = wa_extend(EXTENSION, x.corner + item, width);
    barrier(CLK_LOCAL_MEM_FENCE);
    copy_extended(coefficients, x, rows, cval, columns, copy);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#if DIMENSIONS == 2
  evaluate_tile(tile, x, rows, copy, cval, check, OUTPUT_ARGUMENTS, index);
#else
  // Not in two dimensions, where one loop is faster than a choice of two
  // (docs/performance-notes-opencl.md).
  if (check) {
    evaluate_tile(tile, x, rows, copy, cval, true, OUTPUT_ARGUMENTS, index);
  } else {
    evaluate_tile(tile, x, rows, copy, cval, false, OUTPUT_ARGUMENTS, index);
  }
#endif
}

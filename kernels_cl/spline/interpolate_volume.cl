// Cubic B-spline evaluation in volumes under an affine transform, for GPUs (and CPUs without
// vectors). For each tile of the output, the kernel copies the coefficients that it needs to local
// memory.
//
// 32 neighbouring work-items cover 16 x 1 x 2 pixels. The distance between rows of the copy is the
// number of banks, and planes are offset by half of that, so that few work-items meet in a bank.
//
// Options: EXTENSION; POINTS_REJECT or not; one of OUTPUT_U8, OUTPUT_U16, OUTPUT_F16, OUTPUT_F32;
// BATCH (lib/batch.h).
//
// variant: gpu -DEXTENSION=0 -DPOINTS_REJECT -DOUTPUT_F32
// variant: gpu -DEXTENSION=3 -DPOINTS_FREE -DOUTPUT_U8
// variant: gpu -DEXTENSION=0 -DPOINTS_REJECT -DOUTPUT_F32 -DBATCH
#include "formulas/boundary.h"
#include "formulas/bspline.h"
#include "lib/batch.h"
#include "lib/fixed_point.h"
#include "lib/launch.h"
#include "lib/output.h"

#define GROUP WA_VOLUME_GROUP
#define TILE_X 16
#define STEP_Y 8  // step of a work-item's pixels
#define STEP_Z 2
// The distance between rows of the copy, which is also its largest extent along each axis.
#define PITCH WA_VOLUME_PITCH
#define COPIES 4  // loads in flight at once

typedef struct {
  int x, y, z;
} Numbers;

// The coefficients, margins included.
typedef struct {
  global const float* values;
  Numbers size;
  int margin;
  float cval;
} Spline;

// A transform's rows (lib/fixed_point.h).
typedef struct {
  long4 fine_x, steps_x, fine_y, steps_y, fine_z, steps_z;
} Points;

typedef struct {
  Numbers first;   // the tile's first output pixel
  Numbers corner;  // first coefficient of the copy
  Numbers extent;  // of the copy
  int plane;       // distance between its planes
} Tile;

typedef struct {
  global Output* pixels;
  Numbers size;
  int tile_y, tile_z;
} Target;

WA_INLINE int along_row(int corner, int extent, int size) {
  return corner >= 0 && corner + extent <= size;
}

WA_INLINE bool is_inside(Tile tile, Numbers size) {
  return along_row(tile.corner.x, tile.extent.x, size.x) &&
         along_row(tile.corner.y, tile.extent.y, size.y) &&
         along_row(tile.corner.z, tile.extent.z, size.z);
}

WA_INLINE bool is_outside(Tile tile, Numbers size) {
  return tile.corner.x + tile.extent.x <= 0 || tile.corner.x >= size.x ||
         tile.corner.y + tile.extent.y <= 0 || tile.corner.y >= size.y ||
         tile.corner.z + tile.extent.z <= 0 || tile.corner.z >= size.z;
}

// Copies coefficients for a tile whose copy lies within the array and whose rows begin at words.
// Eight work-items share a row; the group copies 32 rows of a plane at once.
WA_INLINE void copy_inside(Spline spline, Tile tile, local float* copy) {
  const int column = (int)get_local_id(0) % 8 * 4;
  const int row = (int)get_local_id(0) / 8;
  if (column >= tile.extent.x || row >= tile.extent.y) return;
  const size_t plane = (size_t)spline.size.x * (size_t)spline.size.y;
  global const float* from = spline.values + (size_t)tile.corner.z * plane +
                             (size_t)(tile.corner.y + row) * (size_t)spline.size.x +
                             (size_t)(tile.corner.x + column);
  local float* to = copy + row * PITCH + column;
  for (int left = tile.extent.z; left > 0; left -= COPIES) {
    float4 words[COPIES];
#pragma unroll
    for (int i = 0; i < COPIES; ++i) {
      if (i < left) words[i] = *(global const float4*)(from + i * plane);
    }
#pragma unroll
    for (int i = 0; i < COPIES; ++i) {
      if (i < left) *(local float4*)(to + i * tile.plane) = words[i];
    }
    from += COPIES * plane;
    to += COPIES * tile.plane;
  }
}

// Makes any copy, coefficient by coefficient, extended by the boundary rule.
WA_INLINE void copy_extended(Spline spline, Tile tile, local float* copy) {
  const int lane = (int)get_local_id(0) % 32;
  const int x = wa_extend(EXTENSION, tile.corner.x + lane, spline.size.x);
  for (int row = (int)get_local_id(0) / 32; row < tile.extent.y; row += GROUP / 32) {
    const int y = wa_extend(EXTENSION, tile.corner.y + row, spline.size.y);
    for (int k = 0; k < tile.extent.z; ++k) {
      const int z = wa_extend(EXTENSION, tile.corner.z + k, spline.size.z);
      const size_t number = (size_t)max(z, 0) * (size_t)spline.size.y + (size_t)max(y, 0);
      float value = spline.cval;
      if (x >= 0 && y >= 0 && z >= 0) {
        value = spline.values[number * (size_t)spline.size.x + (size_t)x];
      }
      copy[k * tile.plane + row * PITCH + lane] = value;
    }
  }
}

// A point relative to the copy's corner.
typedef struct {
  long x, y, z;
} Walk;

// The weighted sum over a plane of neighbours.
WA_INLINE float sum_plane(local const float* first, const float* wx, const float* wy) {
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    local const float* row = first + j * PITCH;
    const float across = fma(wx[3], row[3], fma(wx[2], row[2], fma(wx[1], row[1], wx[0] * row[0])));
    sum = fma(wy[j], across, sum);
  }
  return sum;
}

WA_INLINE float value_at(Walk walk, int plane, local const float* copy) {
  float wx[4], wy[4], wz[4];
  wa_bspline_weights_3(wa_fixed_fraction(walk.x), wx);
  wa_bspline_weights_3(wa_fixed_fraction(walk.y), wy);
  wa_bspline_weights_3(wa_fixed_fraction(walk.z), wz);
  local const float* first = copy + (wa_fixed_whole(walk.z) * plane +
                                     wa_fixed_whole(walk.y) * PITCH + wa_fixed_whole(walk.x));
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 4; ++k) sum = fma(wz[k], sum_plane(first + k * plane, wx, wy), sum);
  return sum;
}

WA_INLINE bool has_value(Spline spline, Points points, int x, int y, int z) {
  const int beside = 2 * spline.margin;
  return wa_fixed_lies_on(wa_fixed_point(points.fine_x, x, y, z), spline.size.x - beside) &&
         wa_fixed_lies_on(wa_fixed_point(points.fine_y, x, y, z), spline.size.y - beside) &&
         wa_fixed_lies_on(wa_fixed_point(points.fine_z, x, y, z), spline.size.z - beside);
}

// A coordinate of the tile's pixel (x, y, z), relative to the second coefficient of the copy, so
// that its integer part is the position of the first neighbour.
WA_INLINE long start_on(long4 fine, long4 steps, Tile tile, int corner, int margin, int x, int y,
                        int z) {
  const long origin = wa_fixed_point(fine, tile.first.x, tile.first.y, tile.first.z);
  return origin - ((long)(corner - margin + 1) << 32) + x * steps.x + y * steps.y + z * steps.z;
}

// Computes a work-item's pixels of a tile that are in the output. `careful`: points outside have
// the value cval.
WA_INLINE void evaluate_tile(Spline spline, Points points, Tile tile, local const float* copy,
                             bool careful, Target target) {
  const int item = (int)get_local_id(0);
  const int x = item % TILE_X;
  const int first_y = item / 32;
  const int first_z = item / TILE_X % STEP_Z;
  if (tile.first.x + x >= target.size.x) return;
  const int end_y = min(target.tile_y, target.size.y - tile.first.y);
  const int end_z = min(target.tile_z, target.size.z - tile.first.z);
  Walk row;
  row.x = start_on(points.fine_x, points.steps_x, tile, tile.corner.x, spline.margin, x, first_y,
                   first_z);
  row.y = start_on(points.fine_y, points.steps_y, tile, tile.corner.y, spline.margin, x, first_y,
                   first_z);
  row.z = start_on(points.fine_z, points.steps_z, tile, tile.corner.z, spline.margin, x, first_y,
                   first_z);
  const size_t slice = (size_t)target.size.x * (size_t)target.size.y;
#pragma unroll 1
  for (int y = first_y; y < end_y; y += STEP_Y) {
    Walk walk = row;
    global Output* at = target.pixels + (size_t)(tile.first.z + first_z) * slice +
                        (size_t)(tile.first.y + y) * (size_t)target.size.x +
                        (size_t)(tile.first.x + x);
#pragma unroll 1
    for (int z = first_z; z < end_z; z += STEP_Z, at += STEP_Z * slice) {
      float value = value_at(walk, tile.plane, copy);
      if (careful &&
          !has_value(spline, points, tile.first.x + x, tile.first.y + y, tile.first.z + z)) {
        value = spline.cval;
      }
      STORE(at, 0, value);
      walk.x += STEP_Z * points.steps_x.z;
      walk.y += STEP_Z * points.steps_y.z;
      walk.z += STEP_Z * points.steps_z.z;
    }
    row.x += STEP_Y * points.steps_x.y;
    row.y += STEP_Y * points.steps_y.y;
    row.z += STEP_Y * points.steps_z.y;
  }
}

WA_INLINE void blank_tile(Spline spline, Tile tile, Target target) {
  const int item = (int)get_local_id(0);
  const int x = tile.first.x + item % TILE_X;
  if (x >= target.size.x) return;
  const int end_y = min(tile.first.y + target.tile_y, target.size.y);
  const int end_z = min(tile.first.z + target.tile_z, target.size.z);
  for (int z = tile.first.z + item / TILE_X % STEP_Z; z < end_z; z += STEP_Z) {
    for (int y = tile.first.y + item / 32; y < end_y; y += STEP_Y) {
      const size_t row = (size_t)z * (size_t)target.size.y + (size_t)y;
      STORE(target.pixels, row * (size_t)target.size.x + (size_t)x, spline.cval);
    }
  }
}

#define AXIS_PARAMETERS(i) long4 fine_##i, long4 steps_##i, long min_##i, int extent_##i

#ifdef BATCH
// An entry of the table of a batch: AXIS_PARAMETERS of all axes.
typedef struct {
  long4 fine_x, steps_x, fine_y, steps_y, fine_z, steps_z;
  long min_x, min_y, min_z;
  int extent_x, extent_y, extent_z;
} AxesOfArray;

#define TAKE_AXIS(i)            \
  fine_##i = entry->fine_##i;   \
  steps_##i = entry->steps_##i; \
  min_##i = entry->min_##i;     \
  extent_##i = entry->extent_##i
#endif

// The first coefficient that a tile needs.
#define CORNER(i)                                                                                 \
  (wa_fixed_whole(wa_fixed_point(fine_##i, tile.first.x, tile.first.y, tile.first.z) + min_##i) + \
   margin - 1)

// A work-group processes a tile of TILE_X x tile_y x tile_z pixels; tiles are numbered along x,
// then y, then z. min_x, min_y and min_z are the minimum coordinates of a tile, relative to its
// first point. `words`: rows of coefficients begin at words. `copy_words` (words, so that drivers
// align it as such) is the copy, whose planes are `plane` apart.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void interpolate_volume(
    global const float* restrict coefficients, int width, int height, int depth, int margin,
    float cval, AXIS_PARAMETERS(x), AXIS_PARAMETERS(y), AXIS_PARAMETERS(z), int tile_y, int tile_z,
    int words, int plane, local float4* copy_words, global Output* restrict output,
    int output_width, int output_height, int output_depth TILE_BATCH_PARAMETERS(AxesOfArray)) {
  TAKE_ARRAY_OF_GROUP(AxesOfArray, coefficients);
  local float* copy = (local float*)copy_words;
  const Spline spline = {coefficients, {width, height, depth}, margin, cval};
  const Points points = {fine_x, steps_x, fine_y, steps_y, fine_z, steps_z};
  const Target target = {output, {output_width, output_height, output_depth}, tile_y, tile_z};
  const int across = (output_width + TILE_X - 1) / TILE_X;
  const int down = (output_height + tile_y - 1) / tile_y;
  const int number = GROUP_OF_ARRAY / across;
  Tile tile;
  tile.first.x = (GROUP_OF_ARRAY - number * across) * TILE_X;
  tile.first.y = (number - number / down * down) * tile_y;
  tile.first.z = number / down * tile_z;
  tile.corner.x = CORNER(x) & ~3;
  tile.corner.y = CORNER(y);
  tile.corner.z = CORNER(z);
  tile.extent.x = extent_x;
  tile.extent.y = extent_y;
  tile.extent.z = extent_z;
  tile.plane = plane;
  const bool inside = is_inside(tile, spline.size);
#ifdef POINTS_REJECT
  if (is_outside(tile, spline.size)) {
    blank_tile(spline, tile, target);
    return;
  }
#endif
  if (inside && words != 0) {
    copy_inside(spline, tile, copy);
  } else {
    copy_extended(spline, tile, copy);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef POINTS_REJECT
  if (!inside) {
    evaluate_tile(spline, points, tile, copy, true, target);
    return;
  }
#endif
  evaluate_tile(spline, points, tile, copy, false, target);
}

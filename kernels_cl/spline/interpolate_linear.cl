// Interpolation of degree 1 under an affine transform, for GPUs (and CPUs without vectors): loads
// all neighbours of a pixel from global memory. The samples that a tile of the output needs lie
// close together, so the L1 cache holds most of them.
//
// Options: DIMENSIONS 2 or 3; PATCH_X: the width, 8 or 16, of the patch of pixels that 32
// neighbouring work-items process; EXTENSION; POINTS_FREE, POINTS_REJECT, POINTS_CLAMP or
// POINTS_WRAP; one of OUTPUT_U8, OUTPUT_U16, OUTPUT_F16, OUTPUT_F32; BATCH (lib/batch.h).
//
// variant: gpu -DDIMENSIONS=2 -DPATCH_X=8 -DEXTENSION=0 -DPOINTS_FREE -DOUTPUT_F32
// variant: gpu -DDIMENSIONS=2 -DPATCH_X=8 -DEXTENSION=0 -DPOINTS_REJECT -DOUTPUT_U16
// variant: gpu -DDIMENSIONS=2 -DPATCH_X=8 -DEXTENSION=4 -DPOINTS_FREE -DOUTPUT_F16
// variant: gpu -DDIMENSIONS=3 -DPATCH_X=16 -DEXTENSION=0 -DPOINTS_WRAP -DOUTPUT_F32
// variant: gpu -DDIMENSIONS=3 -DPATCH_X=8 -DEXTENSION=3 -DPOINTS_CLAMP -DOUTPUT_U8
// variant: gpu -DDIMENSIONS=2 -DPATCH_X=8 -DEXTENSION=0 -DPOINTS_FREE -DOUTPUT_F32 -DBATCH
// variant: gpu -DDIMENSIONS=3 -DPATCH_X=8 -DEXTENSION=3 -DPOINTS_CLAMP -DOUTPUT_U8 -DBATCH
#include "formulas/bilinear.h"
#include "formulas/boundary.h"
#include "lib/batch.h"
#include "lib/fixed_point.h"
#include "lib/launch.h"
#include "lib/output.h"

// A work-group processes TILE_X x LANES_Y pixels at once and proceeds along the last axis.
#define GROUP WA_LINEAR_GROUP
#if DIMENSIONS == 2
#define TILE_X WA_LINEAR_PLANE_X
#define LANES_Y (GROUP / TILE_X)
#define TILE_Y WA_LINEAR_PLANE_Y
#define TILE_Z 1
#define AT_ONCE 4  // pixels of a work-item whose loads are in flight together
#else
#define TILE_X WA_LINEAR_VOLUME_X
#define LANES_Y (GROUP / TILE_X)
#define TILE_Y WA_LINEAR_VOLUME_Y
#define TILE_Z WA_LINEAR_VOLUME_Z
#define AT_ONCE 1
#endif
#define PATCH 32
#define PATCHES_X (TILE_X / PATCH_X)
#define PATCH_Y (PATCH / PATCH_X)
#define CORNERS (1 << DIMENSIONS)

typedef struct {
  int x, y, z;
} Numbers;

typedef struct {
  global const float* values;
  Numbers size;
  float cval;
} Samples;

// The rows of a transform, with entries in fixed point.
typedef struct {
  long4 x, y, z;
} Steps;

typedef struct {
  global Output* pixels;
  Numbers size;
} Target;

// A point in fixed point.
typedef struct {
  long x, y, z;
} Location;

// The two neighbours on an axis (-1: none), and the distance of the point from the first.
typedef struct {
  int first, second;
  float t;
} Pair;

typedef struct {
  Pair x, y, z;
  bool exists;  // otherwise the value is cval
} Cell;

WA_INLINE Pair side_by_side(long at) {
  const int whole = wa_fixed_whole(at);
  const Pair pair = {whole, whole + 1, wa_fixed_fraction(at)};
  return pair;
}

#ifdef POINTS_WRAP

// wa_split_wrapped() in fixed point.
WA_INLINE long wrapped(long at, int n) {
  const int period = n - 1;
  if (period == 0) return 0;
  if (at >= 0 && at <= (long)period << 32) return at;
  const bool below = at < 0;
  const uint fraction = (uint)at;
  int whole = wa_extend_periodic(wa_fixed_whole(at), period);
  if (below && whole == 0 && fraction == 0) whole = period;
  return ((long)whole << 32) + fraction;
}

#endif

// Finds the neighbours of any point on an axis of n samples; returns false if the value is cval. At
// jumps of the value, snapping corrects the rounding of the steps over a tile and of the transform.
WA_INLINE bool extended(long at, int n, Pair* pair) {
#if defined(POINTS_REJECT) || defined(POINTS_WRAP)
  at = wa_fixed_snap(at);
#endif
#ifdef POINTS_WRAP
  at = wrapped(at, n);
#endif
  *pair = side_by_side(at);
  pair->first = wa_extend(EXTENSION, pair->first, n);
  pair->second = wa_extend(EXTENSION, pair->second, n);
#ifdef POINTS_REJECT
  return at >= 0 && at <= (long)(n - 1) << 32;
#else
  return true;
#endif
}

// `inside`: for all points of the tile, the neighbours are consecutive samples.
WA_INLINE Cell cell_at(Samples samples, Location at, bool inside) {
  Cell cell;
  cell.exists = true;
  if (inside) {
    cell.x = side_by_side(at.x);
    cell.y = side_by_side(at.y);
    cell.z = side_by_side(at.z);
    return cell;
  }
  cell.exists &= extended(at.x, samples.size.x, &cell.x);
  cell.exists &= extended(at.y, samples.size.y, &cell.y);
  if (DIMENSIONS == 3) cell.exists &= extended(at.z, samples.size.z, &cell.z);
  return cell;
}

// Corner x + 2 y + 4 z of a cell.
WA_INLINE float corner(Samples samples, const Cell* cell, int number, bool inside) {
  const int x = number & 1 ? cell->x.second : cell->x.first;
  const int y = number & 2 ? cell->y.second : cell->y.first;
#if DIMENSIONS == 3
  const int z = number & 4 ? cell->z.second : cell->z.first;
#else
  const int z = 0;
#endif
#if EXTENSION == WA_FILL
  if (!inside) {
    const int index = (max(z, 0) * samples.size.y + max(y, 0)) * samples.size.x + max(x, 0);
    const float value = samples.values[index];
    return x >= 0 && y >= 0 && z >= 0 ? value : samples.cval;
  }
#endif
  return samples.values[(z * samples.size.y + y) * samples.size.x + x];
}

WA_INLINE float interpolated(Samples samples, Location at, bool inside) {
  const Cell cell = cell_at(samples, at, inside);
  float v[CORNERS];
#pragma unroll
  for (int i = 0; i < CORNERS; ++i) v[i] = corner(samples, &cell, i, inside);
  float value = wa_bilinear(v[0], v[1], v[2], v[3], cell.x.t, cell.y.t);
#if DIMENSIONS == 3
  value = wa_lerp(value, wa_bilinear(v[4], v[5], v[6], v[7], cell.x.t, cell.y.t), cell.z.t);
#endif
  return cell.exists ? value : samples.cval;
}

// The position of all points of a tile.
#define OUTSIDE 0  // they have no value
#define INSIDE 1   // all their neighbours are samples
#define ACROSS 2

WA_INLINE float value_at(Samples samples, Location at, int kind) {
  return kind == OUTSIDE ? samples.cval : interpolated(samples, at, kind == INSIDE);
}

// Computes this work-item's pixels of a tile whose first point is `origin`.
WA_INLINE void store_tile(Samples samples, Steps steps, Location origin, Numbers tile, int kind,
                          Target target) {
  const int item = (int)get_local_id(0);
  const int patch = item / PATCH;
  const int x = item % PATCH_X + patch % PATCHES_X * PATCH_X;
  const int y = item % PATCH / PATCH_X + patch / PATCHES_X * PATCH_Y;
  Numbers pixel = {tile.x + x, tile.y + y, tile.z};
  if (pixel.x >= target.size.x || pixel.y >= target.size.y) return;
  Location at = {origin.x + x * steps.x.x + y * steps.x.y, origin.y + x * steps.y.x + y * steps.y.y,
                 origin.z + x * steps.z.x + y * steps.z.y};
  const size_t row = (size_t)pixel.z * (size_t)target.size.y + (size_t)pixel.y;
  global Output* to = target.pixels + row * (size_t)target.size.x + (size_t)pixel.x;
#if DIMENSIONS == 2
  const int end = min(tile.y + TILE_Y, target.size.y);
  const size_t stride = (size_t)target.size.x * LANES_Y;
#pragma unroll AT_ONCE
  for (; pixel.y < end; pixel.y += LANES_Y, to += stride) {
    STORE(to, 0, value_at(samples, at, kind));
    at.x += LANES_Y * steps.x.y;
    at.y += LANES_Y * steps.y.y;
  }
#else
  const int end = min(tile.z + TILE_Z, target.size.z);
  const size_t stride = (size_t)target.size.x * (size_t)target.size.y;
#pragma unroll AT_ONCE
  for (; pixel.z < end; ++pixel.z, to += stride) {
    STORE(to, 0, value_at(samples, at, kind));
    at.x += steps.x.z;
    at.y += steps.y.z;
    at.z += steps.z.z;
  }
#endif
}

// The coordinates of a tile range from `minimum` to `maximum` relative to that of its first point,
// `at`.
WA_INLINE bool lie_inside(long at, long minimum, long maximum, int n) {
  return wa_fixed_whole(at + minimum) >= 0 && wa_fixed_whole(at + maximum) + 1 < n;
}
WA_INLINE bool lie_outside(long at, long minimum, long maximum, int n) {
  return wa_fixed_whole(at + maximum) < -1 || wa_fixed_whole(at + minimum) >= n;
}

#define AXIS_PARAMETERS(i) long4 fine_##i, long4 steps_##i, long min_##i, long greatest_##i
#define POINT(i) wa_fixed_point(fine_##i, tile.x, tile.y, tile.z)
#define RANGE(i) origin.i, min_##i, greatest_##i

#ifdef BATCH
// An entry of the table of a batch: AXIS_PARAMETERS of all axes.
typedef struct {
  long4 fine_x, steps_x, fine_y, steps_y, fine_z, steps_z;
  long min_x, greatest_x, min_y, greatest_y, min_z, greatest_z;
} AxesOfArray;

#define TAKE_AXIS(i)            \
  fine_##i = entry->fine_##i;   \
  steps_##i = entry->steps_##i; \
  min_##i = entry->min_##i;     \
  greatest_##i = entry->greatest_##i
#endif

// A work-group processes a tile of the output; its second index counts along y, then z. A
// transform's rows are as in lib/fixed_point.h.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void interpolate_linear(
    global const float* restrict values, int width, int height, int depth, float cval,
    AXIS_PARAMETERS(x), AXIS_PARAMETERS(y), AXIS_PARAMETERS(z), global Output* restrict output,
    int output_width, int output_height, int output_depth TILE_BATCH_PARAMETERS(AxesOfArray)) {
  TAKE_ARRAY_OF_GROUP(AxesOfArray, values);
  const Samples samples = {values, {width, height, depth}, cval};
  const Steps steps = {steps_x, steps_y, steps_z};
  const Target target = {output, {output_width, output_height, output_depth}};
  const int down = (output_height + TILE_Y - 1) / TILE_Y;
  const int number = (int)get_group_id(1);
  const int slab = DIMENSIONS == 2 ? 0 : number / down;
  const Numbers tile = {GROUP_OF_ARRAY * TILE_X, (number - slab * down) * TILE_Y, slab * TILE_Z};
  Location origin = {POINT(x), POINT(y), 0};
  bool inside = lie_inside(RANGE(x), width) && lie_inside(RANGE(y), height);
  bool outside = lie_outside(RANGE(x), width) || lie_outside(RANGE(y), height);
#if DIMENSIONS == 3
  origin.z = POINT(z);
  inside = inside && lie_inside(RANGE(z), depth);
  outside = outside || lie_outside(RANGE(z), depth);
#endif
#if defined(POINTS_REJECT) || EXTENSION == WA_FILL
  if (outside) {
    store_tile(samples, steps, origin, tile, OUTSIDE, target);
    return;
  }
#endif
  if (inside) {
    store_tile(samples, steps, origin, tile, INSIDE, target);
  } else {
    store_tile(samples, steps, origin, tile, ACROSS, target);
  }
}

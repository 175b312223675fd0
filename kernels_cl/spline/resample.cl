// Prefilter and evaluation in one kernel, for cubic splines in the plane under affine transforms,
// on GPUs: a work-group loads the samples that a tile of the output needs, filters them and
// evaluates.
//
// A work-item filters one half of a column in registers, straight from global memory; half a warp
// filters a row, with eight pixels per work-item. The coefficients may take up all the local memory
// that a group has. The data that work-items exchange before the coefficients are stored, and the
// results of steep transforms after they were read, therefore use the same memory. Evaluation is
// cheapest along a direction in which the source row changes least, so the tile may be a
// parallelogram, and for steep transforms neighbouring work-items go down the output rather than
// along it.
//
// Options: ROWS, the number of rows of samples that a tile needs, halos included; STEEP; POLE and
// START, 1 / (1 - POLE); SCALE, the factor by which results are multiplied; EXTENSION;
// POINTS_REJECT or not; one of OUTPUT_U8, OUTPUT_U16, OUTPUT_F16, OUTPUT_F32; BATCH (lib/batch.h).
//
// variant: gpu -DPOLE=(-0.2679492f) -DSTART=(0.7886751f) -DSCALE=(1.0f) -DEXTENSION=0 -DROWS=104 -DPOINTS_REJECT -DOUTPUT_F32
// variant: gpu -DPOLE=(-0.2679492f) -DSTART=(0.7886751f) -DSCALE=(1.0f) -DEXTENSION=0 -DROWS=120 -DPOINTS_FREE -DOUTPUT_U8
// variant: gpu -DPOLE=(-0.2679492f) -DSTART=(0.7886751f) -DSCALE=(1.0f) -DEXTENSION=0 -DROWS=104 -DPOINTS_FREE -DOUTPUT_F32 -DSTEEP
// variant: gpu -DPOLE=(-0.2679492f) -DSTART=(0.7886751f) -DSCALE=(1.0f) -DEXTENSION=0 -DROWS=120 -DPOINTS_REJECT -DOUTPUT_F16 -DSTEEP
// variant: gpu -DPOLE=(-0.2679492f) -DSTART=(0.7886751f) -DSCALE=(1.0f) -DEXTENSION=0 -DROWS=104 -DPOINTS_REJECT -DOUTPUT_F32 -DBATCH
// variant: gpu -DPOLE=(-0.2679492f) -DSTART=(0.7886751f) -DSCALE=(1.0f) -DEXTENSION=0 -DROWS=120 -DPOINTS_FREE -DOUTPUT_U8 -DSTEEP -DBATCH
#include "formulas/boundary.h"
#include "formulas/bspline.h"
#include "lib/batch.h"
#include "lib/fixed_point.h"
#include "lib/launch.h"
#include "lib/output.h"

#define GROUP WA_RESAMPLE_GROUP
#define TILE WA_RESAMPLE_TILE
#define HALO WA_RESAMPLE_HALO
// The number of columns of samples, a multiple of the banks, which is also the pitch of the
// coefficients; and the first of the columns that is kept.
#define COLUMNS WA_RESAMPLE_COLUMNS
#define FIRST WA_RESAMPLE_FIRST
#define SHEAR_GROUP WA_RESAMPLE_SHEAR_GROUP
#define HALF (ROWS / 2)
#define KEPT (ROWS - 2 * HALO)
#define STEP (GROUP / TILE)
#define PIXELS (TILE / STEP)  // of a work-item

#define LANE_PIXELS 8
#define ROW_LANES (COLUMNS / LANE_PIXELS)
#define GROUP_ROWS (GROUP / ROW_LANES)
#define LANE_ROWS (KEPT / GROUP_ROWS)  // rows of a work-item

// Uses of the memory before the coefficients are stored: the positions of a row's samples, and the
// state that the halves of columns pass to one another. The ANTICAUSAL_ENDS are where the work-item
// that reads them writes last.
#define LOCATIONS(coefficients) ((local int*)(coefficients) + 2 * COLUMNS)
#define CAUSAL_ENDS(coefficients) ((coefficients) + COLUMNS)
#define ANTICAUSAL_ENDS(coefficients) (coefficients)

// A transform's rows (lib/fixed_point.h).
typedef struct {
  long4 fine_x, steps_x, fine_y, steps_y;
} Points;

// Arguments that are the same for all tiles.
typedef struct {
  int width, height;
  float cval;
  int columns, shear;
} Source;

typedef struct {
  int x, y;                 // the tile's first output pixel
  long origin_x, origin_y;  // the point at which it is read
  int corner_x, corner_y;   // the first coefficient
} Location;

#define OUTPUT_PARAMETERS global Output *output, int output_width, int output_height
#define OUTPUT_ARGUMENTS output, output_width, output_height

// Loads the samples of half a column.
WA_INLINE void load_half_column(global const float* samples, Source source, Location location,
                                int column, int begin, local float* coefficients, float* v) {
  const int left = location.corner_x - FIRST;
  const int top = location.corner_y - HALO;
  if (left >= 0 && left + COLUMNS <= source.width && top >= 0 && top + ROWS <= source.height) {
    global const float* from =
        samples + (size_t)(top + begin) * (size_t)source.width + (size_t)(left + column);
#pragma unroll
    for (int j = 0; j < HALF; ++j, from += source.width) v[j] = *from;
    return;
  }
  const int item = (int)get_local_id(0);
  local int* locations = LOCATIONS(coefficients);
  if (item < ROWS) locations[item] = wa_extend(EXTENSION, top + item, source.height);
  const int x = wa_extend(EXTENSION, left + column, source.width);
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int j = 0; j < HALF; ++j) {
    const int y = locations[begin + j];
    v[j] = source.cval;
    if (x >= 0 && y >= 0) v[j] = samples[(size_t)y * (size_t)source.width + (size_t)x];
  }
}

#define POLE_2 (POLE * POLE)
#define POLE_4 (POLE_2 * POLE_2)
#define POLE_8 (POLE_4 * POLE_4)
constant float powers[HALO + 2] = {1.0f,           POLE,
                                   POLE_2,         POLE_2* POLE,
                                   POLE_4,         POLE_4* POLE,
                                   POLE_4* POLE_2, POLE_4* POLE_2* POLE,
                                   POLE_8,         POLE_8* POLE,
                                   POLE_8* POLE_2, POLE_8* POLE_2* POLE,
                                   POLE_8* POLE_4, POLE_8* POLE_4* POLE};

// Filters the columns; those of their rows that lie between the halos are written to
// `coefficients`. The upper half's causal run continues in the lower half, and the lower half's
// anticausal run continues in the upper half.
WA_INLINE void filter_columns(global const float* samples, Source source, Location location,
                              local float* coefficients) {
  const int column = (int)get_local_id(0) % COLUMNS;
  const bool lower = (int)get_local_id(0) >= COLUMNS;
  float v[HALF];
  load_half_column(samples, source, location, column, lower ? HALF : 0, coefficients, v);
  if (!lower) v[0] *= START;
#pragma unroll
  for (int j = 1; j < HALF; ++j) v[j] = wa_prefilter_causal(v[j], POLE, v[j - 1]);
  if (!lower) CAUSAL_ENDS(coefficients)[column] = v[HALF - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lower) {
    const float before = CAUSAL_ENDS(coefficients)[column];
#pragma unroll
    for (int j = 0; j <= HALO; ++j) v[j] = fma(powers[j + 1], before, v[j]);
    float after = v[HALO];
#pragma unroll
    for (int j = HALO - 1; j >= 0; --j) after = wa_prefilter_causal(v[j], POLE, after);
    ANTICAUSAL_ENDS(coefficients)[column] = after;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lower) {
    float after = v[HALF - 1] * START;
#pragma unroll
    for (int j = HALF - 2; j >= HALF - HALO; --j) after = wa_prefilter_causal(v[j], POLE, after);
    local float* to = coefficients + (HALF - HALO) * COLUMNS + column;
#pragma unroll
    for (int j = HALF - HALO - 1; j >= 0; --j) {
      after = wa_prefilter_causal(v[j], POLE, after);
      to[j * COLUMNS] = after;
    }
  } else {
    float after = ANTICAUSAL_ENDS(coefficients)[column];
#pragma unroll
    for (int j = HALF - 1; j >= HALO; --j) {
      after = wa_prefilter_causal(v[j], POLE, after);
      coefficients[(j - HALO) * COLUMNS + column] = after;
    }
  }
}

// A work-item's eight pixels of a row, which half a warp filters. Of any eight consecutive
// work-items, four process the upper of the warp's two rows, whose pixels begin four later, so that
// their words of four pixels never conflict in a bank. The upper row's last work-item reads beyond
// its row, too far away to matter.
typedef struct {
  int location;    // index among the row's work-items
  int first;       // the group's work-item with the row's first pixels, as ends are numbered
  int at;          // the first pixel's position in local memory
  bool low, high;  // whether the first and last four are kept
} RowLane;

WA_INLINE RowLane lane_of_row(int columns) {
  const int item = (int)get_local_id(0);
  const int lane = item % 32;
  const int row = (lane >> 2) & 1;
  RowLane result;
  result.location = (lane & 3) | ((lane >> 1) & 12);
  const int number = item / 32 * 2 + row;
  result.first = number * ROW_LANES;
  const int own = LANE_PIXELS * result.location + (row == 0 ? 4 : 0);
  result.low = own + 4 > FIRST && own < FIRST + columns;
  result.high = own + 8 > FIRST && own + 4 < FIRST + columns;
  result.at = number * COLUMNS + own;
  return result;
}

// Replaces vload4() and vstore4(), with which some compilers do not keep v in registers.
WA_INLINE float4 four_of(const float* v) { return (float4)(v[0], v[1], v[2], v[3]); }
WA_INLINE void put_four(float4 four, float* v) {
  v[0] = four.s0;
  v[1] = four.s1;
  v[2] = four.s2;
  v[3] = four.s3;
}

// The contribution to a work-item of the two before it (`direction` 1) or after it (-1), from the
// values they left in `ends`. At a row's end, it is what the outermost pixel would have left if its
// value continued forever.
WA_INLINE float gathered(RowLane lane, local const float* ends, int direction, float outermost) {
  const int order = direction > 0 ? lane.location : ROW_LANES - 1 - lane.location;
  local const float* own = ends + lane.first + lane.location;
  float sum = order == 0 ? outermost * START : 0.0f;
  if (order >= 2) sum = powers[LANE_PIXELS] * own[-2 * direction];
  if (order >= 1) sum += own[-direction];
  return sum;
}

// Applies both runs to the rows, in place; z^(2 LANE_PIXELS) is far below single precision.
WA_INLINE void filter_rows(int columns, local float* coefficients) {
  const RowLane lane = lane_of_row(columns);
  local float* words = coefficients + lane.at;
  local float* ends = coefficients + lane.first + lane.location;
  float v[LANE_ROWS][LANE_PIXELS], outermost[LANE_ROWS];
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    local const float4* from = (local const float4*)(words + k * GROUP_ROWS * COLUMNS);
    put_four(from[0], v[k]);
    put_four(from[1], v[k] + 4);
    outermost[k] = v[k][0];
#pragma unroll
    for (int i = 1; i < LANE_PIXELS; ++i) v[k][i] = wa_prefilter_causal(v[k][i], POLE, v[k][i - 1]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) ends[k * GROUP] = v[k][LANE_PIXELS - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    const float before = gathered(lane, coefficients + k * GROUP, 1, outermost[k]);
#pragma unroll
    for (int i = 0; i < LANE_PIXELS; ++i) v[k][i] = fma(powers[i + 1], before, v[k][i]);
    outermost[k] = v[k][LANE_PIXELS - 1];
#pragma unroll
    for (int i = LANE_PIXELS - 2; i >= 0; --i) {
      v[k][i] = wa_prefilter_causal(v[k][i], POLE, v[k][i + 1]);
    }
    ends[(LANE_ROWS + k) * GROUP] = v[k][0];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    const float after = gathered(lane, coefficients + (LANE_ROWS + k) * GROUP, -1, outermost[k]);
#pragma unroll
    for (int i = 0; i < LANE_PIXELS; ++i) {
      v[k][i] = fma(powers[LANE_PIXELS - i], after, v[k][i]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < LANE_ROWS; ++k) {
    local float4* to = (local float4*)(words + k * GROUP_ROWS * COLUMNS);
    if (lane.low) to[0] = four_of(v[k]);
    if (lane.high) to[1] = four_of(v[k] + 4);
  }
}

// A work-item's pixels. Together, the work-items go along a row of the output or, for steep
// transforms, down a column.
typedef struct {
  int u, v;   // relative to the tile's first pixel
  long x, y;  // the point, relative to the first coefficient
} Walk;

WA_INLINE Walk start_walk(Points points, Source source, Location location) {
  const int side_by_side = (int)get_local_id(0) % TILE;
  const int line = (int)get_local_id(0) / TILE;
  const int sheared = line + source.shear * (side_by_side / SHEAR_GROUP);
  Walk walk;
#ifdef STEEP
  walk.u = sheared;
  walk.v = side_by_side;
#else
  walk.u = side_by_side;
  walk.v = sheared;
#endif
  walk.x = location.origin_x - ((long)location.corner_x << 32) + walk.u * points.steps_x.x +
           walk.v * points.steps_x.y;
  walk.y = location.origin_y - ((long)location.corner_y << 32) + walk.u * points.steps_y.x +
           walk.v * points.steps_y.y;
  return walk;
}

WA_INLINE void advance(Walk* walk, Points points) {
#ifdef STEEP
  walk->u += STEP;
  walk->x += STEP * points.steps_x.x;
  walk->y += STEP * points.steps_y.x;
#else
  walk->v += STEP;
  walk->x += STEP * points.steps_x.y;
  walk->y += STEP * points.steps_y.y;
#endif
}

// SCALE includes the weights' factor of six on each axis.
WA_INLINE float value_at(Walk walk, local const float* coefficients) {
  float wx[4], wy[4];
  wa_bspline_sixfold_weights_3(wa_fixed_fraction(walk.x), wx);
  wa_bspline_sixfold_weights_3(wa_fixed_fraction(walk.y), wy);
  local const float* first = coefficients + (wa_fixed_whole(walk.y) * COLUMNS +
                                             wa_fixed_whole(walk.x) + (FIRST - 1 - COLUMNS));
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    local const float* row = first + j * COLUMNS;
    sum =
        fma(wy[j], fma(wx[3], row[3], fma(wx[2], row[2], fma(wx[1], row[1], wx[0] * row[0]))), sum);
  }
  return (float)SCALE * sum;
}

WA_INLINE bool is_in(int x, int y, int output_width, int output_height) {
  return x >= 0 && x < output_width && y >= 0 && y < output_height;
}

WA_INLINE size_t index_of(int x, int y, int output_width) {
  return (size_t)y * (size_t)output_width + (size_t)x;
}

WA_INLINE bool has_value(Points points, Source source, int x, int y) {
  return wa_fixed_lies_on(wa_fixed_point(points.fine_x, x, y, 0), source.width) &&
         wa_fixed_lies_on(wa_fixed_point(points.fine_y, x, y, 0), source.height);
}

// Evaluates pixel by pixel, and only pixels that are in the output. `careful`: points outside have
// the value cval.
WA_INLINE void evaluate_some(Points points, Source source, Location location,
                             local const float* coefficients, bool careful, OUTPUT_PARAMETERS) {
  Walk walk = start_walk(points, source, location);
#pragma unroll 1
  for (int k = 0; k < PIXELS; ++k) {
    const int x = location.x + walk.u;
    const int y = location.y + walk.v;
    if (is_in(x, y, output_width, output_height)) {
      float value = value_at(walk, coefficients);
      if (careful && !has_value(points, source, x, y)) value = source.cval;
      STORE(output, index_of(x, y, output_width), value);
    }
    advance(&walk, points);
  }
}

#ifndef STEEP

// Whether all pixels of a tile are in the output.
WA_INLINE bool is_whole(Source source, Location location, int output_width, int output_height) {
  const int sheared = source.shear * (TILE / SHEAR_GROUP - 1);
  return location.x + TILE <= output_width && location.y + min(0, sheared) >= 0 &&
         location.y + TILE + max(0, sheared) <= output_height;
}

WA_INLINE void evaluate_whole(Points points, Source source, Location location,
                              local const float* coefficients, OUTPUT_PARAMETERS) {
  Walk walk = start_walk(points, source, location);
  global Output* at = output + index_of(location.x + walk.u, location.y + walk.v, output_width);
  const size_t stride = (size_t)output_width * STEP;
#pragma unroll 2
  for (int k = 0; k < PIXELS; ++k, at += stride) {
    STORE(at, 0, value_at(walk, coefficients));
    advance(&walk, points);
  }
}

#else

// The results pass through local memory, so that stores go along rows of the output.
WA_INLINE void evaluate_down_columns(Points points, Source source, Location location,
                                     local float* coefficients, OUTPUT_PARAMETERS) {
  const int item = (int)get_local_id(0);
  const int pitch = TILE + 1;
  Walk walk = start_walk(points, source, location);
  local float* staged = coefficients + item % TILE * pitch + item / TILE;
  float values[PIXELS];
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) {
    values[k] = value_at(walk, coefficients);
    advance(&walk, points);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (int k = 0; k < PIXELS; ++k) staged[k * STEP] = values[k];
  barrier(CLK_LOCAL_MEM_FENCE);
  const int u = item % TILE;
  for (int v = item / TILE; v < TILE; v += STEP) {
    const int x = location.x + u + source.shear * (v / SHEAR_GROUP);
    const int y = location.y + v;
    if (is_in(x, y, output_width, output_height)) {
      STORE(output, index_of(x, y, output_width), coefficients[v * pitch + u]);
    }
  }
}

#endif

#ifdef POINTS_REJECT

WA_INLINE bool lies_inside(Source source, Location location) {
  return location.corner_x >= 0 && location.corner_x + source.columns <= source.width &&
         location.corner_y >= 0 && location.corner_y + KEPT <= source.height;
}

WA_INLINE bool lies_outside(Source source, Location location) {
  return location.corner_x + source.columns <= 0 || location.corner_x >= source.width ||
         location.corner_y + KEPT <= 0 || location.corner_y >= source.height;
}

WA_INLINE void blank(Source source, Location location, OUTPUT_PARAMETERS) {
  const int item = (int)get_local_id(0);
  const int u = item % TILE;
  for (int v = item / TILE; v < TILE; v += STEP) {
#ifdef STEEP
    const int x = location.x + u + source.shear * (v / SHEAR_GROUP);
    const int y = location.y + v;
#else
    const int x = location.x + u;
    const int y = location.y + v + source.shear * (u / SHEAR_GROUP);
#endif
    if (is_in(x, y, output_width, output_height)) {
      STORE(output, index_of(x, y, output_width), source.cval);
    }
  }
}

#endif

#ifdef BATCH
// An entry of the table of a batch: a transform, its tiles as parameters of resample() describe
// them, how many of them there are down the output, and the array. The launch takes entries from
// number `first` on; an array has up to `groups` tiles.
typedef struct {
  long4 fine_x, steps_x, fine_y, steps_y;
  long min_x, min_y;
  int columns, shear, before_x, before_y, across, down, array;
} TilesOfArray;

#define BATCH_PARAMETERS , global const TilesOfArray *entries, int each, int groups, int first
#else
#define BATCH_PARAMETERS
#endif

// A work-group processes a tile; tiles are numbered along x, then y. min_x and min_y are the
// minimum coordinates of a tile, relative to its first point. The first tile begins (before_x,
// before_y) before the output; `across` is the number of tiles in a row.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void resample(
    global const float* restrict samples, int width, int height, float cval, long4 fine_x,
    long4 steps_x, long min_x, long4 fine_y, long4 steps_y, long min_y, int columns, int shear,
    int before_x, int before_y, int across, global Output* restrict output, int output_width,
    int output_height BATCH_PARAMETERS) {
#ifdef BATCH
  global const TilesOfArray* entry = entries + first + ARRAY * each;
  fine_x = entry->fine_x;
  steps_x = entry->steps_x;
  min_x = entry->min_x;
  fine_y = entry->fine_y;
  steps_y = entry->steps_y;
  min_y = entry->min_y;
  columns = entry->columns;
  shear = entry->shear;
  before_x = entry->before_x;
  before_y = entry->before_y;
  across = entry->across;
  if (GROUP_OF_ARRAY >= across * entry->down) return;
  const size_t array = (size_t)(each != 0 ? entry->array : ARRAY);
  samples += array * ((size_t)width * (size_t)height);
  output += array * ((size_t)output_width * (size_t)output_height);
#endif
  local float4 coefficient_words[KEPT * COLUMNS / 4];
  local float* coefficients = (local float*)coefficient_words;
  const Points points = {fine_x, steps_x, fine_y, steps_y};
  const Source source = {width, height, cval, columns, shear};
  const int number_y = GROUP_OF_ARRAY / across;
  const int number_x = GROUP_OF_ARRAY - number_y * across;
  Location location;
  location.x = number_x * TILE - before_x;
  location.y = number_y * TILE - before_y;
  location.origin_x = wa_fixed_point(fine_x, location.x, location.y, 0);
  location.origin_y = wa_fixed_point(fine_y, location.x, location.y, 0);
  location.corner_x = wa_fixed_whole(location.origin_x + min_x) - 2;
  location.corner_y = wa_fixed_whole(location.origin_y + min_y) - 2;
#ifdef POINTS_REJECT
  if (lies_outside(source, location)) {
    blank(source, location, OUTPUT_ARGUMENTS);
    return;
  }
  const bool careful = !lies_inside(source, location);
#else
  const bool careful = false;
#endif
  filter_columns(samples, source, location, coefficients);
  barrier(CLK_LOCAL_MEM_FENCE);
  filter_rows(columns, coefficients);
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef STEEP
  if (!careful) {
    evaluate_down_columns(points, source, location, coefficients, OUTPUT_ARGUMENTS);
    return;
  }
#else
  if (!careful && is_whole(source, location, output_width, output_height)) {
    evaluate_whole(points, source, location, coefficients, OUTPUT_ARGUMENTS);
    return;
  }
#endif
  evaluate_some(points, source, location, coefficients, careful, OUTPUT_ARGUMENTS);
}

// B-spline evaluation for CPUs: sixteen neighbouring pixels of a row at a time.
//
// Coordinates, weights and the final sum are vectors across the sixteen pixels. The sums over a
// pixel's rows of neighbours are vectors along those rows, loaded as they lie in memory (gathers
// are slower), or pairs of them for linear interpolation (lib/row_pairs.h). Points of an affine
// transform are computed in fixed point, in multiples of 2^-40 of a pixel. Pixels whose point is
// near the edge are handled one by one (lib/spline_value.h), and so are those whose neighbourhood
// extends beyond the coefficients, but for linear interpolation of images.
//
// Options: DEGREE 0 to 5; DIMENSIONS 1 to 3; EXTENSION; one of POINTS_FREE, POINTS_REJECT,
// POINTS_CLAMP, POINTS_WRAP (backend::InterpolateDetails); COMPLEX; one of OUTPUT_U8, OUTPUT_U16,
// OUTPUT_F16, OUTPUT_F32; LOADED, the number of floats loaded for a row of neighbours: 1, 2, 4, 8
// or 16; FIELD_POINTS for the kernel for a coordinate field instead of that for transforms; BATCH,
// with transforms (lib/batch.h): work-items take tiles of all arrays' rows.
//
// variant: cpu -DDEGREE=3 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_REJECT -DOUTPUT_F32 -DLOADED=4
// variant: cpu -DDEGREE=1 -DDIMENSIONS=2 -DEXTENSION=4 -DPOINTS_FREE -DOUTPUT_F32 -DLOADED=2
// variant: cpu -DDEGREE=5 -DDIMENSIONS=1 -DEXTENSION=1 -DPOINTS_FREE -DOUTPUT_U16 -DLOADED=8
// variant: cpu -DDEGREE=0 -DDIMENSIONS=1 -DEXTENSION=2 -DPOINTS_WRAP -DOUTPUT_F16 -DLOADED=1
// variant: cpu -DDEGREE=1 -DDIMENSIONS=2 -DEXTENSION=4 -DPOINTS_FREE -DOUTPUT_F32 -DCOMPLEX -DLOADED=4 -DFIELD_POINTS
// variant: cpu -DDEGREE=4 -DDIMENSIONS=3 -DEXTENSION=3 -DPOINTS_CLAMP -DOUTPUT_U8 -DLOADED=8
// variant: cpu -DDEGREE=5 -DDIMENSIONS=2 -DEXTENSION=1 -DPOINTS_FREE -DOUTPUT_F32 -DCOMPLEX -DLOADED=16
// variant: cpu -DDEGREE=3 -DDIMENSIONS=2 -DEXTENSION=0 -DPOINTS_REJECT -DOUTPUT_F32 -DLOADED=4 -DBATCH
#include "lib/row_pairs.h"
#include "lib/row_points.h"
#include "lib/row_sums.h"

// How many rows of pixels are between those that are evaluated and those whose neighbours are
// fetched.
#define ROWS_AHEAD 8

// The source of the points: their coordinates, or the transform (as in POINTS_PARAMETERS) and the
// first output pixel of a segment.
typedef struct {
#ifdef FIELD_POINTS
  const float* locations[3];
#else
  float4 row_x, row_y, row_z, rest_x, rest_y, rest_z;
  float x, y, z;  // relative to the output's centre
#endif
} Source;

WA_INLINE Point point_of(const Source* source, int i) {
  Point point;
#ifdef FIELD_POINTS
  for (int axis = 0; axis < DIMENSIONS; ++axis) {
    point.high[axis] = source->locations[axis][i];
    point.low[axis] = 0.0f;
  }
#else
  const float x = source->x + (float)i;
  transformed(source->row_x, source->rest_x, x, source->y, source->z, &point.high[0],
              &point.low[0]);
  if (DIMENSIONS >= 2) {
    transformed(source->row_y, source->rest_y, x, source->y, source->z, &point.high[1],
                &point.low[1]);
  }
  if (DIMENSIONS >= 3) {
    transformed(source->row_z, source->rest_z, x, source->y, source->z, &point.high[2],
                &point.low[2]);
  }
  snap(&point);
#endif
  return point;
}

WA_INLINE void put(Along along, int i, Along16* all) {
  ((int*)&all->first)[i] = along.first;
  ((float*)&all->t)[i] = along.t;
}

// Locates the point of pixel i of a chunk with locate_point(); returns whether it has a value.
WA_INLINE bool locate_exactly(const Spline* spline, const Source* source, int chunk, int i,
                              Points16* points) {
  const Point point = point_of(source, chunk * 16 + i);
  Along x = {0, 0.0f, false}, y = {0, 0.0f, false}, z = {0, 0.0f, false};
  const bool exists = locate_point(spline, &point, &x, &y, &z);
  put(x, i, &points->x);
  if (DIMENSIONS >= 2) put(y, i, &points->y);
  if (DIMENSIONS >= 3) put(z, i, &points->z);
  return exists;
}

// Stores `count` pixels of a chunk whose points are not all inside. Moves `points` to the positions
// to which the boundary rule maps them.
WA_INLINE void store_mixed(const Spline* spline, const Inside* limits, Points16* points,
                           const Source* source, int chunk, int count, global Output* output) {
  Existence existence = {(int16)(-1), ~points->far};
  const int16 inside = are_inside(limits, points) & ~points->far;
  check_axis(&points->x, spline->width, spline->margin, &existence);
  if (DIMENSIONS >= 2) check_axis(&points->y, spline->height, spline->margin, &existence);
  if (DIMENSIONS >= 3) check_axis(&points->z, spline->depth, spline->margin, &existence);
  const int16 uncertain = existence.exists & ~existence.certain;
  int16 evaluated = existence.exists & existence.certain;
  if (!are_all(~uncertain)) {
#pragma unroll 1
    for (int i = 0; i < 16; ++i) {
      if (((const int*)&uncertain)[i] == 0) continue;
      ((int*)&evaluated)[i] = locate_exactly(spline, source, chunk, i, points) ? -1 : 0;
    }
  }
  float16 value[COMPONENTS];
  value[0] = spline->cval;
  if (COMPONENTS == 2) value[COMPONENTS - 1] = 0.0f;
  if (!are_all(~evaluated)) {
    float16 found[COMPONENTS];
    const int16 loaded = inside & evaluated & ~uncertain;
#if DEGREE == 1 && DIMENSIONS == 2 && COMPONENTS == 1
    if (!interpolate_extended(spline, points, evaluated, found))
#endif
      evaluate_mixed(spline, points, loaded, evaluated & ~loaded, found);
#pragma unroll
    for (int c = 0; c < COMPONENTS; ++c) value[c] = select(value[c], found[c], evaluated);
  }
  store16(value, count, output);
}

#if DIMENSIONS <= 2 && COMPONENTS == 1
// Whether the first `count` points of a segment are those of a shift: one pixel apart in a row,
// with the same weights.
WA_INLINE bool are_shifted(const Points16* points, int count) {
  int16 same = -1;
#pragma unroll 1
  for (int chunk = 0; chunk < CHUNKS; ++chunk) {
    const int16 number = NUMBERS + chunk * 16;
    int16 next =
        points[chunk].x.first - number == points->x.first.s0 && points[chunk].x.t == points->x.t.s0;
    if (DIMENSIONS == 2) {
      next = next && points[chunk].y.first == points->y.first.s0 &&
             points[chunk].y.t == points->y.t.s0;
    }
    same &= next | (number >= count);
  }
  return are_all(same);
}

// Like store_inside() for such points, whose sums are vectors along the pixels, in the same order.
WA_INLINE void store_shifted(const Spline* spline, const Points16* points, int count,
                             global Output* output) {
  float wx[TAPS];
  float wy[TAPS];
  WEIGHTS(points->x.t.s0, wx);
  global const float* first = (global const float*)spline->values + points->x.first.s0;
  if (DIMENSIONS == 2) {
    WEIGHTS(points->y.t.s0, wy);
    first += (size_t)points->y.first.s0 * (size_t)spline->width;
  }
#pragma unroll 1
  for (int at = 0; at < count; at += 16) {
    const int some = min(16, count - at);
    float16 value = 0.0f;
#pragma unroll
    for (int l = 0; l < TAPS; ++l) {
      float16 sum = load_some(first + at + l, some);
      if (DIMENSIONS == 2) {
        sum *= wy[0];
#pragma unroll
        for (int j = 1; j < TAPS; ++j) {
          sum = fma((float16)(wy[j]),
                    load_some(first + at + l + (size_t)j * (size_t)spline->width, some), sum);
        }
      }
      value = l == 0 ? wx[0] * sum : fma((float16)(wx[l]), sum, value);
    }
    store16(&value, some, output + at);
  }
}
#endif

// Begins to load the neighbours of every fourth of sixteen pixels some rows further down, `ahead`
// floats away (0: nothing). The processor itself foresees few of these loads if the image is
// rotated by 10 to 20 degrees.
WA_INLINE void fetch_rows_ahead(const Spline* spline, const int* offsets, long ahead) {
  if (ahead == 0) return;
#pragma unroll
  for (int i = 0; i < 16; i += 4) {
    fetch_ahead((global const float*)spline->values + offsets[i] + ahead);
  }
}

// Stores pixels of a segment whose points are all inside.
WA_INLINE void store_inside(const Spline* spline, const Points16* points, int count, long ahead,
                            global Output* output) {
#if DIMENSIONS <= 2 && COMPONENTS == 1
  if (are_shifted(points, count)) {
    store_shifted(spline, points, count, output);
    return;
  }
#endif
#if DEGREE == 1 && COMPONENTS == 1
  int16 offsets[CHUNKS];
#pragma unroll 1
  for (int chunk = 0; chunk * 16 < count; ++chunk) {
    offsets[chunk] = pair_offsets(spline, points + chunk, count - chunk * 16);
  }
#pragma unroll 1
  for (int chunk = 0; chunk * 16 < count; ++chunk) {
    const int* at = (const int*)(offsets + chunk);
    fetch_rows_ahead(spline, at, ahead);
    const float16 value = interpolate_pairs(spline, points + chunk, at);
    store16(&value, min(16, count - chunk * 16), output + chunk * 16);
  }
#else
  Segment segment;
  float16 sums[LOADED * CHUNKS];
#pragma unroll 1
  for (int chunk = 0; chunk < CHUNKS; ++chunk) {
    prepare(spline, points + chunk, chunk, &segment);
    fetch_rows_ahead(spline, (const int*)(segment.at + chunk), ahead);
  }
#pragma unroll 1
  for (int i = 0; i < count; ++i) *((Loaded*)sums + i) = sum_inside(spline, &segment, i);
#pragma unroll 1
  for (int chunk = 0; chunk * 16 < count; ++chunk) {
    float16 value[COMPONENTS];
    sum_columns(&segment, chunk, (const float*)(sums + chunk * LOADED), value);
    store16(value, min(16, count - chunk * 16), output + chunk * 16);
  }
#endif
}

// Stores the first `count` pixels of a segment.
WA_INLINE void store_segment(const Spline* spline, const Inside* inside, Points16* points,
                             const Source* source, int count, long ahead,
                             global Output* output) {
  int16 all_inside = -1;
#pragma unroll 1
  for (int chunk = 0; chunk < CHUNKS; ++chunk) {
    all_inside &=
        (are_inside(inside, points + chunk) & ~points[chunk].far) | (NUMBERS + chunk * 16 >= count);
  }
  if (are_all(all_inside)) {
    store_inside(spline, points, count, ahead, output);
    return;
  }
#pragma unroll 1
  for (int chunk = 0; chunk * 16 < count; ++chunk) {
    store_mixed(spline, inside, points + chunk, source, chunk, min(16, count - chunk * 16),
                output + chunk * 16);
  }
}

// A tile of tile_x x tile_y pixels; rows are numbered consecutively over all planes.
typedef struct {
  int x, end_x, row, end_row;
} Tile;

WA_INLINE Tile tile_of(int tile_x, int tile_y, int width, int rows) {
  const int across = (width + tile_x - 1) / tile_x;
  const int number = (int)get_global_id(0);
  Tile tile;
  tile.row = number / across * tile_y;
  tile.x = number % across * tile_x;
  tile.end_row = min(tile.row + tile_y, rows);
  tile.end_x = min(tile.x + tile_x, width);
  return tile;
}

#ifndef FIELD_POINTS

#ifdef BATCH
// An entry of the table of a batch: the parameters of interpolate_cpu() for a transform.
typedef struct {
  long4 fixed_x, fixed_y, fixed_z;
  float4 row_x, row_y, row_z, rest_x, rest_y, rest_z;
} RowsOfArray;

#define BATCH_PARAMETERS , global const RowsOfArray *entries, int each, int arrays
#define ARRAYS arrays
#else
#define BATCH_PARAMETERS
#define ARRAYS 1
#endif

WA_INLINE long16 walk(long4 fixed, int x, int y, int z) {
  return convert_long16(NUMBERS) * fixed.x +
         (fixed.x * x + fixed.y * y + fixed.z * z + fixed.w);
}

// How far neighbours lie from those of the pixel ROWS_AHEAD further down, about, in floats.
WA_INLINE long offset_ahead(const Spline* spline, long4 fixed_x, long4 fixed_y, long4 fixed_z) {
  long rows = (fixed_y.y * ROWS_AHEAD) >> FIXED_POINT;
  if (DIMENSIONS >= 3) rows += ((fixed_z.y * ROWS_AHEAD) >> FIXED_POINT) * spline->height;
  return (((fixed_x.y * ROWS_AHEAD) >> FIXED_POINT) + rows * spline->width) * COMPONENTS;
}

#if defined(POINTS_REJECT) || (EXTENSION == WA_FILL && !defined(POINTS_WRAP))
// Whether the points of a row's pixels from x to `last` all lie beyond the same end of an axis of n
// coefficients, so far that none has a value or a neighbour.
WA_INLINE bool lie_beyond(long4 fixed, int x, int last, int y, int z, int n) {
  const long row = fixed.y * y + fixed.z * z + fixed.w;
  const long first = (fixed.x * x + row) >> FIXED_POINT;
  const long end = (fixed.x * last + row) >> FIXED_POINT;
  return max(first, end) < -TAPS - 3 || min(first, end) > n + TAPS + 3;
}

WA_INLINE void store_cval(float cval, int count, global Output* output) {
  float16 value[COMPONENTS];
  value[0] = cval;
  if (COMPONENTS == 2) value[COMPONENTS - 1] = 0.0f;
#pragma unroll 1
  for (int i = 0; i < count; i += 16) store16(value, min(16, count - i), output + i);
}
#define MAY_LIE_BEYOND
#endif

// Evaluates at the points of an affine transform, and stores from pixel `first` of the output on.
// row_i and rest_i are as in POINTS_PARAMETERS; fixed_i is row i of the same transform in fixed
// point: pixel (x, y, z) is read at fixed.x x + fixed.y y + fixed.z z + fixed.w.
SIMD_KERNEL interpolate_cpu(
    SPLINE_PARAMETERS, float4 row_x, float4 row_y, float4 row_z, float4 rest_x, float4 rest_y,
    float4 rest_z, int centre_x, int centre_y, int centre_z, long4 fixed_x, long4 fixed_y,
    long4 fixed_z, int tile_x, int tile_y, global Output* output, ulong first,
    OUTPUT_PARAMETERS BATCH_PARAMETERS) {
  output += first;
  const int rows = output_height * output_depth;
  const Tile tile = tile_of(tile_x, tile_y, output_width, rows * ARRAYS);
  Spline spline = {coefficients, width, height, depth, margin, cval};
  const Inside inside = inside_of(&spline);
  Source source = {row_x, row_y, row_z, rest_x, rest_y, rest_z, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
  for (int row = tile.row; row < tile.end_row; ++row) {
    int row_of_array = row;
#ifdef BATCH
    const int array = row / rows;
    row_of_array -= array * rows;
    spline.values = coefficients + (size_t)array * ((size_t)width * (size_t)height * (size_t)depth);
    global const RowsOfArray* entry = entries + array * each;
    source.row_x = entry->row_x;
    source.row_y = entry->row_y;
    source.row_z = entry->row_z;
    source.rest_x = entry->rest_x;
    source.rest_y = entry->rest_y;
    source.rest_z = entry->rest_z;
    fixed_x = entry->fixed_x;
    fixed_y = entry->fixed_y;
    fixed_z = entry->fixed_z;
#endif
    const int z = row_of_array / output_height;
    const int y = row_of_array - z * output_height;
    source.z = (float)(z - centre_z);
    source.y = (float)(y - centre_y);
    const long ahead = offset_ahead(&spline, fixed_x, fixed_y, fixed_z);
    global Output* to = output + (size_t)row * (size_t)output_width;
#pragma unroll 1
    for (int x = tile.x; x < tile.end_x; x += SEGMENT) {
      source.x = (float)(x - centre_x);
#ifdef MAY_LIE_BEYOND
      const int end = min(x + SEGMENT, tile.end_x);
      if (lie_beyond(fixed_x, x, end - 1, y, z, width) ||
          (DIMENSIONS >= 2 && lie_beyond(fixed_y, x, end - 1, y, z, height)) ||
          (DIMENSIONS >= 3 && lie_beyond(fixed_z, x, end - 1, y, z, depth))) {
        store_cval(spline.cval, end - x, to + x);
        continue;
      }
#endif
      Points16 points[CHUNKS];
#pragma unroll 1
      for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        const int from = x + chunk * 16;
        points[chunk].x = along_fixed(walk(fixed_x, from, y, z));
        if (DIMENSIONS >= 2) points[chunk].y = along_fixed(walk(fixed_y, from, y, z));
        if (DIMENSIONS >= 3) points[chunk].z = along_fixed(walk(fixed_z, from, y, z));
        points[chunk].far = 0;
      }
      store_segment(&spline, &inside, points, &source, min(SEGMENT, tile.end_x - x), ahead,
                    to + x);
    }
  }
}

#else

// Loads sixteen coordinates, of which `count` exist, and also stores them for point_of().
WA_INLINE Along16 load_along(global const float* field, int count, int n, int margin,
                             float16* locations, int16* far) {
  if (count >= 16) {
    *locations = vload16(0, field);
  } else {
    *locations = 0.0f;
    for (int i = 0; i < count; ++i) ((float*)locations)[i] = field[i];
  }
  return along_float(*locations, n, margin, far);
}

// Evaluates at the points of a coordinate field. Coordinate i of pixel p is
// field_i[i * axis_stride + p].
SIMD_KERNEL interpolate_field(
    SPLINE_PARAMETERS, global const float* field_x, global const float* field_y,
    global const float* field_z, ulong axis_stride, int tile_x, int tile_y, global Output* output,
    OUTPUT_PARAMETERS) {
  const Tile tile = tile_of(tile_x, tile_y, output_width, output_height * output_depth);
  const Spline spline = {coefficients, width, height, depth, margin, cval};
  const Inside inside = inside_of(&spline);
  float16 locations[3][CHUNKS];
  Source source;
  for (int axis = 0; axis < DIMENSIONS; ++axis) {
    source.locations[axis] = (const float*)locations[axis];
  }
  for (int row = tile.row; row < tile.end_row; ++row) {
    for (int x = tile.x; x < tile.end_x; x += SEGMENT) {
      const size_t pixel = (size_t)row * (size_t)output_width + (size_t)x;
      const int count = min(SEGMENT, tile.end_x - x);
      Points16 points[CHUNKS];
#pragma unroll 1
      for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        const size_t at = pixel + chunk * 16;
        const int rest = count - chunk * 16;
        Points16* to = points + chunk;
        to->far = 0;
        to->x = load_along(field_x + at, rest, width, margin, &locations[0][chunk], &to->far);
        if (DIMENSIONS >= 2) {
          to->y = load_along(field_y + axis_stride + at, rest, height, margin, &locations[1][chunk],
                             &to->far);
        }
        if (DIMENSIONS >= 3) {
          to->z = load_along(field_z + 2 * axis_stride + at, rest, depth, margin,
                             &locations[2][chunk], &to->far);
        }
      }
      store_segment(&spline, &inside, points, &source, count, 0, output + pixel);
    }
  }
}

#endif

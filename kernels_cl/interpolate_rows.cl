// B-spline evaluation for CPUs: sixteen neighbouring pixels of a row at a time.
//
// Coordinates, weights and the last sum are vectors across the sixteen pixels; the sums over a
// pixel's rows of neighbours are vectors along those rows, loaded as they lie (gathers are slower).
// Points of an affine transform are counted in fixed point, 2^-40 of a pixel. Only pixels whose
// neighbourhood reaches beyond the coefficients, or whose point is near the edge, are asked for
// one by one (formulas/opencl_spline_value.h).
//
// Options: DEGREE 0 to 5; DIMENSIONS 1 to 3; EXTENSION; one of POINTS_FREE, POINTS_REJECT,
// POINTS_CLAMP, POINTS_WRAP (backend::InterpolateDetails); COMPLEX; one of OUTPUT_U8, OUTPUT_U16,
// OUTPUT_F16, OUTPUT_F32; LOADED: floats loaded of a row of neighbours, 1, 2, 4, 8 or 16;
// FIELD_POINTS: the kernel for a coordinate field, not for transforms.
#include "formulas/opencl_spline_value.h"

#define FIXED_POINT 40  // fixed_point_bits in interpolate_rows.cpp

// Pixels whose weights, sums and values are computed one after the other: what comes out of memory
// again was written long ago then.
#define SEGMENT 64
#define CHUNKS (SEGMENT / 16)
#define NUMBERS ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

#ifdef COMPLEX
#define COMPONENTS 2
#else
#define COMPONENTS 1
#endif

#if LOADED == 1
typedef float Loaded;
#define LOAD(p) (*(p))
#else
typedef JOIN(float, LOADED) Loaded;
#define LOAD(p) JOIN(vload, LOADED)(0, p)
#endif

// Sixteen points along one axis: their first neighbours, and what WEIGHTS takes.
typedef struct {
  int16 first;
  float16 t;
} Along16;

// `at`: in fixed point from the first coefficient (of even degrees, 1/2 more).
WA_INLINE Along16 along_fixed(long16 at) {
  Along16 along;
  along.first = convert_int16(at >> FIXED_POINT) - DEGREE / 2;
  along.t = convert_float16(convert_int16(at >> (FIXED_POINT - 31)) & 0x7fffffff) * 0x1p-31f;
#if DEGREE % 2 == 0
  along.t -= 0.5f;
#endif
  return along;
}

// `at`: from the first sample of an axis of n coefficients. What is far beyond them, or no number,
// becomes just beyond them, and is `far`.
WA_INLINE Along16 along_float(float16 at, int n, int margin, int16* far) {
  const float16 near = fmin(fmax(at, -64.0f), (float)n + 64.0f);
  *far |= near != at;
  float16 below = floor(near);
  Along16 along;
  along.t = near - below;
#if DEGREE % 2 == 0
  const int16 above = along.t >= 0.5f;
  below = select(below, below + 1.0f, above);
  along.t = select(along.t, along.t - 1.0f, above);
#endif
  along.first = convert_int16(below) + (margin - DEGREE / 2);
  return along;
}

// First neighbours from `first` to `last`.
typedef struct {
  int first, last;
} Range;

WA_INLINE int16 is_within(int16 at, Range range) { return at >= range.first && at <= range.last; }

// Of n coefficients, `loaded` of which are loaded at once: where a point certainly has a value and
// all neighbours.
WA_INLINE Range range_inside(int n, int margin, int loaded) {
  Range range = {0, n - loaded};
#if defined(POINTS_REJECT) || defined(POINTS_WRAP)
  range.first = max(range.first, margin - DEGREE / 2 + 1);
  range.last = min(range.last, n - margin - DEGREE / 2 - 4);
#endif
  return range;
}

typedef struct {
  Range x, y, z;
} Inside;

WA_INLINE Inside inside_of(const Spline* spline) {
  Inside inside;
  inside.x = range_inside(spline->width, spline->margin, LOADED / COMPONENTS);
  inside.y = range_inside(spline->height, spline->margin, TAPS);
  inside.z = range_inside(spline->depth, spline->margin, TAPS);
  return inside;
}

typedef struct {
  Along16 x, y, z;
  int16 far;  // not where this says: ask locate_point()
} Points16;

WA_INLINE int16 are_inside(const Inside* inside, const Points16* points) {
  int16 result = is_within(points->x.first, inside->x);
  if (DIMENSIONS >= 2) result &= is_within(points->y.first, inside->y);
  if (DIMENSIONS >= 3) result &= is_within(points->z.first, inside->z);
  return result;
}

// all(), which some compilers ask one by one, of tests that are 0 or -1.
WA_INLINE bool are_all(int16 tests) {
  const int8 eight = tests.lo & tests.hi;
  const int4 four = eight.lo & eight.hi;
  const int2 two = four.lo & four.hi;
  return (two.x & two.y) != 0;
}

// Where a point stands on an axis as the boundary's rule sees it.
typedef struct {
  int16 exists;   // else its value is cval
  int16 certain;  // else rounding might matter: locate_point() knows
} Verdict;

// Of n coefficients. With POINTS_CLAMP it moves points as locate() does.
WA_INLINE Verdict judge(Along16* along, int n, int margin) {
  Verdict verdict = {(int16)(-1), (int16)(-1)};
#if defined(POINTS_REJECT) || defined(POINTS_WRAP)
  const float doubtful = 1e-3f;
  const int16 whole = along->first + (DEGREE / 2 - margin);
  const float16 below = convert_float16(whole) + along->t;
  const float16 above = convert_float16(whole - (n - 2 * margin - 1)) + along->t;
  verdict.certain = below > doubtful && above < -doubtful;
#ifdef POINTS_REJECT
  verdict.exists = below > -doubtful && above < doubtful;
#endif
#elif EXTENSION == WA_FILL
  verdict.exists = along->first >= -DEGREE - 1 && along->first <= n;
  verdict.certain = along->first > -DEGREE && along->first < n - 1;
#elif defined(POINTS_CLAMP)
  const int reach = margin > 0 ? 0 : TAPS;
  const int last = n - 1 + reach;
  const int16 whole = along->first + DEGREE / 2;
  const int16 before = whole < -reach || (whole == -reach && along->t < 0.0f);
  const int16 after = whole > last || (whole == last && along->t > 0.0f);
  along->first = clamp(whole, -reach, last) - DEGREE / 2;
  along->t = select(along->t, (float16)(0.0f), before | after);
#endif
  return verdict;
}

WA_INLINE void judge_axis(Along16* along, int n, int margin, Verdict* verdict) {
  const Verdict more = judge(along, n, margin);
  verdict->exists &= more.exists;
  verdict->certain &= more.certain;
}

// Of the pixels of a segment along one axis.
typedef struct {
  float16 w[TAPS][CHUNKS];
} Weights;

WA_INLINE void weigh16(float16 t, int chunk, Weights* weights) {
  const float* each = (const float*)&t;
  float* all = (float*)weights->w + chunk * 16;
  for (int i = 0; i < 16; ++i) {
    float w[TAPS];
    WEIGHTS(each[i], w);
#pragma unroll
    for (int k = 0; k < TAPS; ++k) all[k * SEGMENT + i] = w[k];
  }
}

WA_INLINE float weight_of(const Weights* weights, int k, int i) {
  return ((const float*)weights->w)[k * SEGMENT + i];
}

WA_INLINE Loaded add_weighed(float weight, Loaded row, Loaded sum) {
  return fma((Loaded)(weight), row, sum);
}

// The rows of a plane of pixel i's neighbours from `first` on, summed.
WA_INLINE Loaded sum_plane(global const float* first, size_t row, const Weights* y, int i) {
  if (DIMENSIONS < 2) return LOAD(first);
  Loaded sum = weight_of(y, 0, i) * LOAD(first);
#pragma unroll
  for (int j = 1; j < TAPS; ++j) sum = add_weighed(weight_of(y, j, i), LOAD(first + j * row), sum);
  return sum;
}

// All rows of pixel i's neighbours.
WA_INLINE Loaded sum_rows(global const float* first, size_t row, size_t plane, const Weights* y,
                          const Weights* z, int i) {
  if (DIMENSIONS < 3) return sum_plane(first, row, y, i);
  Loaded sum = weight_of(z, 0, i) * sum_plane(first, row, y, i);
#pragma unroll
  for (int k = 1; k < TAPS; ++k) {
    sum = add_weighed(weight_of(z, k, i), sum_plane(first + k * plane, row, y, i), sum);
  }
  return sum;
}

// The same where the boundary's rule has to find the neighbours from (x, y, z) on.
WA_INLINE void sum_extended(const Spline* spline, int x, int y, int z, const Weights* wy,
                            const Weights* wz, int i, float* sums) {
  int at_x[TAPS];
#pragma unroll
  for (int l = 0; l < TAPS; ++l) at_x[l] = wa_extend(EXTENSION, x + l, spline->width);
  for (int l = 0; l < TAPS * COMPONENTS; ++l) sums[l] = 0.0f;
#pragma unroll 1
  for (int k = 0; k < TAPS_Z; ++k) {
    const int at_z = DIMENSIONS < 3 ? 0 : wa_extend(EXTENSION, z + k, spline->depth);
#pragma unroll 1
    for (int j = 0; j < TAPS_Y; ++j) {
      const int at_y = DIMENSIONS < 2 ? 0 : wa_extend(EXTENSION, y + j, spline->height);
      const float weight = (DIMENSIONS < 2 ? 1.0f : weight_of(wy, j, i)) *
                           (DIMENSIONS < 3 ? 1.0f : weight_of(wz, k, i));
      const size_t row = (size_t)max(at_z, 0) * (size_t)spline->height + (size_t)max(at_y, 0);
      global const Value* values = spline->values + row * (size_t)spline->width;
#pragma unroll
      for (int l = 0; l < TAPS; ++l) {
        const bool found = at_x[l] >= 0 && at_y >= 0 && at_z >= 0;
        const Value value = found ? values[at_x[l]] : constant_value(spline->cval);
        const float* components = (const float*)&value;
        for (int c = 0; c < COMPONENTS; ++c) {
          sums[l * COMPONENTS + c] = fma(weight, components[c], sums[l * COMPONENTS + c]);
        }
      }
    }
  }
}

// What a segment's pixels are computed from: where their first neighbours are, and weights.
typedef struct {
  int16 at[CHUNKS];
  Weights x, y, z;
} Segment;

WA_INLINE void prepare(const Spline* spline, const Points16* points, int chunk, Segment* segment) {
  weigh16(points->x.t, chunk, &segment->x);
  if (DIMENSIONS >= 2) weigh16(points->y.t, chunk, &segment->y);
  if (DIMENSIONS >= 3) weigh16(points->z.t, chunk, &segment->z);
  int16 number = points->x.first;
  if (DIMENSIONS >= 2) number += points->y.first * spline->width;
  if (DIMENSIONS >= 3) number += points->z.first * (spline->width * spline->height);
  segment->at[chunk] = number * COMPONENTS;
}

WA_INLINE Loaded sum_inside(const Spline* spline, const Segment* segment, int i) {
  global const float* coefficients = (global const float*)spline->values;
  const size_t row = (size_t)spline->width * COMPONENTS;
  return sum_rows(coefficients + ((const int*)segment->at)[i], row, row * (size_t)spline->height,
                  &segment->y, &segment->z, i);
}

// Column k of sixteen rows of LOADED.
WA_INLINE float16 column(const float* sums, int k) {
  float16 values;
  float* each = (float*)&values;
#pragma unroll
  for (int i = 0; i < 16; ++i) each[i] = sums[i * LOADED + k];
  return values;
}

// The last sums, along x; `sums`: of the chunk's pixels.
WA_INLINE void sum_columns(const Segment* segment, int chunk, const float* sums, float16* value) {
#pragma unroll
  for (int c = 0; c < COMPONENTS; ++c) {
    value[c] = segment->x.w[0][chunk] * column(sums, c);
#pragma unroll
    for (int k = 1; k < TAPS; ++k) {
      value[c] = fma(segment->x.w[k][chunk], column(sums, k * COMPONENTS + c), value[c]);
    }
  }
}

// The tensor product at sixteen points: of those where `inside` is not 0 all neighbours are, those
// where `extended` is not 0 have theirs by the boundary's rule.
WA_INLINE void evaluate_mixed(const Spline* spline, const Points16* points, int16 inside,
                              int16 extended, float16* value) {
  Segment segment;
  float16 sums[LOADED];
  prepare(spline, points, 0, &segment);
#pragma unroll 1
  for (int i = 0; i < 16; ++i) {
    float* sum = (float*)sums + i * LOADED;
    if (((const int*)&inside)[i] != 0) {
      *(Loaded*)sum = sum_inside(spline, &segment, i);
    } else if (((const int*)&extended)[i] != 0) {
      sum_extended(spline, ((const int*)&points->x.first)[i], ((const int*)&points->y.first)[i],
                   ((const int*)&points->z.first)[i], &segment.y, &segment.z, i, sum);
    }
  }
  sum_columns(&segment, 0, (const float*)sums, value);
}

#ifdef COMPLEX
WA_INLINE void store16(const float16* value, int count, global Value* output) {
  const float* re = (const float*)&value[0];
  const float* im = (const float*)&value[1];
  for (int i = 0; i < count; ++i) output[i] = (float2)(re[i], im[i]);
}
#else
WA_INLINE void store16(const float16* value, int count, global Output* output) {
  if (count == 16) {
    STORE_16(output, value[0]);
    return;
  }
  const float* each = (const float*)value;
  for (int i = 0; i < count; ++i) STORE(output, i, each[i]);
}
#endif

// What knows the points themselves: their coordinates, or the transform (as POINTS_PARAMETERS has
// it) and which pixel of the output a segment begins with.
typedef struct {
#ifdef FIELD_POINTS
  const float* places[3];
#else
  float4 row_x, row_y, row_z, rest_x, rest_y, rest_z;
  float x, y, z;  // from the output's centre
#endif
} Source;

WA_INLINE Point point_of(const Source* source, int i) {
  Point point;
#ifdef FIELD_POINTS
  for (int axis = 0; axis < DIMENSIONS; ++axis) {
    point.high[axis] = source->places[axis][i];
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

// Asks locate_point() about pixel i of a chunk; whether it has a value.
WA_INLINE bool settle(const Spline* spline, const Source* source, int chunk, int i,
                      Points16* points) {
  const Point point = point_of(source, chunk * 16 + i);
  Along x = {0, 0.0f, false}, y = {0, 0.0f, false}, z = {0, 0.0f, false};
  const bool exists = locate_point(spline, &point, &x, &y, &z);
  put(x, i, &points->x);
  if (DIMENSIONS >= 2) put(y, i, &points->y);
  if (DIMENSIONS >= 3) put(z, i, &points->z);
  return exists;
}

// `count` pixels of a chunk whose points are not all inside, `points` being moved where the rule
// has them.
WA_INLINE void store_mixed(const Spline* spline, const Inside* limits, Points16* points,
                           const Source* source, int chunk, int count, global Output* output) {
  Verdict verdict = {(int16)(-1), ~points->far};
  const int16 inside = are_inside(limits, points) & ~points->far;
  judge_axis(&points->x, spline->width, spline->margin, &verdict);
  if (DIMENSIONS >= 2) judge_axis(&points->y, spline->height, spline->margin, &verdict);
  if (DIMENSIONS >= 3) judge_axis(&points->z, spline->depth, spline->margin, &verdict);
  const int16 doubtful = verdict.exists & ~verdict.certain;
  int16 evaluated = verdict.exists & verdict.certain;
  if (!are_all(~doubtful)) {
#pragma unroll 1
    for (int i = 0; i < 16; ++i) {
      if (((const int*)&doubtful)[i] == 0) continue;
      ((int*)&evaluated)[i] = settle(spline, source, chunk, i, points) ? -1 : 0;
    }
  }
  float16 value[COMPONENTS];
  value[0] = spline->cval;
  if (COMPONENTS == 2) value[COMPONENTS - 1] = 0.0f;
  if (!are_all(~evaluated)) {
    float16 found[COMPONENTS];
    const int16 loaded = inside & evaluated & ~doubtful;
    evaluate_mixed(spline, points, loaded, evaluated & ~loaded, found);
#pragma unroll
    for (int c = 0; c < COMPONENTS; ++c) value[c] = select(value[c], found[c], evaluated);
  }
  store16(value, count, output);
}

// Pixels of a segment whose points are all inside.
WA_INLINE void store_inside(const Spline* spline, const Points16* points, int count,
                            global Output* output) {
  Segment segment;
  float16 sums[LOADED * CHUNKS];
#pragma unroll 1
  for (int chunk = 0; chunk < CHUNKS; ++chunk) prepare(spline, points + chunk, chunk, &segment);
#pragma unroll 1
  for (int i = 0; i < count; ++i) *((Loaded*)sums + i) = sum_inside(spline, &segment, i);
#pragma unroll 1
  for (int chunk = 0; chunk * 16 < count; ++chunk) {
    float16 value[COMPONENTS];
    sum_columns(&segment, chunk, (const float*)(sums + chunk * LOADED), value);
    store16(value, min(16, count - chunk * 16), output + chunk * 16);
  }
}

// The first `count` pixels of a segment.
WA_INLINE void store_segment(const Spline* spline, const Inside* inside, Points16* points,
                             const Source* source, int count, global Output* output) {
  int16 all_inside = -1;
#pragma unroll 1
  for (int chunk = 0; chunk < CHUNKS; ++chunk) {
    all_inside &=
        (are_inside(inside, points + chunk) & ~points[chunk].far) | (NUMBERS + chunk * 16 >= count);
  }
  if (are_all(all_inside)) {
    store_inside(spline, points, count, output);
    return;
  }
#pragma unroll 1
  for (int chunk = 0; chunk * 16 < count; ++chunk) {
    store_mixed(spline, inside, points + chunk, source, chunk, min(16, count - chunk * 16),
                output + chunk * 16);
  }
}

// A tile of tile_x x tile_y pixels, the rows of all planes being numbered through.
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

WA_INLINE long16 walk(long4 fixed, int x, int y, int z) {
  return convert_long16(NUMBERS + x) * fixed.x + (fixed.y * y + fixed.z * z + fixed.w);
}

// The points of an affine transform: row_i and rest_i as in POINTS_PARAMETERS, and in fixed_i axis
// i of the same in fixed point: pixel (x, y, z) is read at fixed.x x + fixed.y y + fixed.z z +
// fixed.w.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void interpolate_rows(
    SPLINE_PARAMETERS, float4 row_x, float4 row_y, float4 row_z, float4 rest_x, float4 rest_y,
    float4 rest_z, int centre_x, int centre_y, int centre_z, long4 fixed_x, long4 fixed_y,
    long4 fixed_z, int tile_x, int tile_y, global Output* output, OUTPUT_PARAMETERS) {
  const Tile tile = tile_of(tile_x, tile_y, output_width, output_height * output_depth);
  const Spline spline = {coefficients, width, height, depth, margin, cval};
  const Inside inside = inside_of(&spline);
  Source source = {row_x, row_y, row_z, rest_x, rest_y, rest_z, 0.0f, 0.0f, 0.0f};
#pragma unroll 1
  for (int row = tile.row; row < tile.end_row; ++row) {
    const int z = row / output_height;
    const int y = row - z * output_height;
    source.z = (float)(z - centre_z);
    source.y = (float)(y - centre_y);
    global Output* to = output + (size_t)row * (size_t)output_width;
#pragma unroll 1
    for (int x = tile.x; x < tile.end_x; x += SEGMENT) {
      source.x = (float)(x - centre_x);
      Points16 points[CHUNKS];
#pragma unroll 1
      for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        const int from = x + chunk * 16;
        points[chunk].x = along_fixed(walk(fixed_x, from, y, z));
        if (DIMENSIONS >= 2) points[chunk].y = along_fixed(walk(fixed_y, from, y, z));
        if (DIMENSIONS >= 3) points[chunk].z = along_fixed(walk(fixed_z, from, y, z));
        points[chunk].far = 0;
      }
      store_segment(&spline, &inside, points, &source, min(SEGMENT, tile.end_x - x), to + x);
    }
  }
}

#else

// Sixteen coordinates, of which there are `count`, kept for point_of(), too.
WA_INLINE Along16 load_along(global const float* field, int count, int n, int margin,
                             float16* places, int16* far) {
  if (count >= 16) {
    *places = vload16(0, field);
  } else {
    *places = 0.0f;
    for (int i = 0; i < count; ++i) ((float*)places)[i] = field[i];
  }
  return along_float(*places, n, margin, far);
}

// The points of a coordinate field: axis i of pixel p is field_i[i apart + p].
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void interpolate_field(
    SPLINE_PARAMETERS, global const float* field_x, global const float* field_y,
    global const float* field_z, ulong apart, int tile_x, int tile_y, global Output* output,
    OUTPUT_PARAMETERS) {
  const Tile tile = tile_of(tile_x, tile_y, output_width, output_height * output_depth);
  const Spline spline = {coefficients, width, height, depth, margin, cval};
  const Inside inside = inside_of(&spline);
  float16 places[3][CHUNKS];
  Source source;
  for (int axis = 0; axis < DIMENSIONS; ++axis) source.places[axis] = (const float*)places[axis];
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
        to->x = load_along(field_x + at, rest, width, margin, &places[0][chunk], &to->far);
        if (DIMENSIONS >= 2) {
          to->y =
              load_along(field_y + apart + at, rest, height, margin, &places[1][chunk], &to->far);
        }
        if (DIMENSIONS >= 3) {
          to->z = load_along(field_z + 2 * apart + at, rest, depth, margin, &places[2][chunk],
                             &to->far);
        }
      }
      store_segment(&spline, &inside, points, &source, count, output + pixel);
    }
  }
}

#endif

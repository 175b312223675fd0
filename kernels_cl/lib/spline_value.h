// A spline's value and derivatives at any point, pixel by pixel, for OpenCL kernels only: the point
// at which a pixel of the output is read, its neighbourhood, and the tensor product.
//
// Options: as in spline/interpolate.cl.
#ifndef WARPALIGN_LIB_SPLINE_VALUE_H
#define WARPALIGN_LIB_SPLINE_VALUE_H

#include "formulas/boundary.h"
#include "formulas/bspline.h"
#include "formulas/log_polar.h"
#include "lib/output.h"
#include "lib/spline_points.h"

#define TAPS_Y (DIMENSIONS >= 2 ? TAPS : 1)
#define TAPS_Z (DIMENSIONS >= 3 ? TAPS : 1)
#define LARGEST_FLOAT 0x1.fffffep+127f

// The coefficients with their margin, and the value beyond them.
typedef struct {
  global const Value* values;
  int width, height, depth;
  int margin;
  float cval;
} Spline;

WA_INLINE Value constant_value(float cval) {
#ifdef COMPLEX
  return (float2)(cval, 0.0f);
#else
  return cval;
#endif
}

// A point's location along one axis: its first neighbour, the argument of WEIGHTS, and whether the
// point was moved to the end of the margin, where the spline is constant.
typedef struct {
  int first;
  float t;
  bool clamped;
} Along;

// Locates high + low on an axis of n coefficients, margins included; returns false if the value is
// cval.
WA_INLINE bool locate(float high, float low, int n, int margin, Along* along) {
  if (isnan(high)) return false;
#ifdef POINTS_CLAMP
  high = clamp(high, -0x1p+60f, 0x1p+60f);
#else
  if (fabs(high) > LARGEST_FLOAT) return false;
#endif
  if (!(fabs(low) <= LARGEST_FLOAT)) low = 0.0f;
  int whole;
  float t;
  if (!split_point(high, low, n - 2 * margin, &whole, &t)) return false;
  whole += margin;
  along->clamped = false;
#ifdef POINTS_CLAMP
  // Without a margin, the spline is constant where all neighbours are the edge's coefficient.
  const int reach = margin > 0 ? 0 : TAPS;
  const int last = n - 1 + reach;
  if (whole < -reach || whole > last || (whole == last && t > 0.0f)) {
    whole = whole < 0 ? -reach : last;
    t = 0.0f;
    along->clamped = true;
  }
#endif
#if DEGREE % 2 == 0
  if (t >= 0.5f) {
    whole += 1;
    t -= 1.0f;
  }
#endif
  along->first = whole - DEGREE / 2;
  along->t = t;
#if EXTENSION == WA_FILL
  if (along->first >= n || along->first + DEGREE < 0) return false;
#endif
  return true;
}

WA_INLINE bool is_inside(Along along, int n) {
  return along.first >= 0 && along.first + DEGREE < n;
}

typedef struct {
  Value value;
  float dx, dy, dz;
} Result;

// The weights along one axis, and optionally their derivatives.
WA_INLINE void weigh(Along along, bool gradient, float* w, float* d) {
  WEIGHTS(along.t, w);
  if (!gradient) return;
  DERIVATIVES(along.t, d);
#pragma unroll
  for (int i = 0; i < TAPS; ++i) d[i] = along.clamped ? 0.0f : d[i];
}

// Finds the neighbours along one axis; -1 for a neighbour that does not exist.
WA_INLINE void map_neighbours(Along along, int n, int* at) {
#pragma unroll
  for (int i = 0; i < TAPS; ++i) at[i] = wa_extend(EXTENSION, along.first + i, n);
}

// A row of neighbours. Four real ones form a vector, whose elements CPUs compute at once.
#if TAPS == 4 && !defined(COMPLEX)
typedef float4 Row;
#define NO_ROW ((float4)(0.0f))

WA_INLINE Row add_row(float weight, Row row, Row sum) { return fma((float4)(weight), row, sum); }

WA_INLINE Value across(const float* w, Row row) {
  return fma(w[3], row.s3, fma(w[2], row.s2, fma(w[1], row.s1, w[0] * row.s0)));
}

WA_INLINE Row row_at(global const Value* first) { return vload4(0, first); }

WA_INLINE Row row_of(const Value* v) { return (float4)(v[0], v[1], v[2], v[3]); }

#else
typedef struct {
  Value v[TAPS];
} Row;
#define NO_ROW        \
  {                   \
    { (Value)(0.0f) } \
  }

WA_INLINE Row add_row(float weight, Row row, Row sum) {
#pragma unroll
  for (int i = 0; i < TAPS; ++i) sum.v[i] = fma((Value)(weight), row.v[i], sum.v[i]);
  return sum;
}

WA_INLINE Value across(const float* w, Row row) {
  Value value = w[0] * row.v[0];
#pragma unroll
  for (int i = 1; i < TAPS; ++i) value = fma((Value)(w[i]), row.v[i], value);
  return value;
}

WA_INLINE Row row_at(global const Value* first) {
  Row row;
#pragma unroll
  for (int i = 0; i < TAPS; ++i) row.v[i] = first[i];
  return row;
}

WA_INLINE Row row_of(const Value* values) {
  Row row;
#pragma unroll
  for (int i = 0; i < TAPS; ++i) row.v[i] = values[i];
  return row;
}
#endif

// Loads row (y, z); both are -1 if it does not exist. Inside the image its neighbours are
// consecutive; elsewhere the boundary rule finds each of them.
WA_INLINE Row load_row(const Spline* spline, bool inside, int first_x, const int* at_x, int y,
                       int z) {
  const size_t number = (size_t)max(z, 0) * (size_t)spline->height + (size_t)max(y, 0);
  global const Value* row = spline->values + number * (size_t)spline->width;
  if (inside) return row_at(row + first_x);
  Value values[TAPS];
#pragma unroll
  for (int i = 0; i < TAPS; ++i) {
    const bool found = y >= 0 && z >= 0 && at_x[i] >= 0;
    values[i] = found ? row[at_x[i]] : constant_value(spline->cval);
  }
  return row_of(values);
}

// w[k] without indexing by a variable, which would put the weights in memory.
WA_INLINE float pick(const float* w, int k) {
  float value = w[0];
#pragma unroll
  for (int i = 1; i < TAPS; ++i) value = k == i ? w[i] : value;
  return value;
}

// Neighbour k along an axis: consecutive if `inside`; otherwise the boundary rule finds it.
WA_INLINE int neighbour(Along along, int k, int n, bool inside) {
  return inside ? along.first + k : wa_extend(EXTENSION, along.first + k, n);
}

// The tensor product: rows are summed column by column, then the columns. `inside` and `gradient`
// are constants at every call.
WA_INLINE Result tensor_product(const Spline* spline, Along x, Along y, Along z, bool inside,
                                bool gradient) {
  float wx[TAPS], wy[TAPS] = {1.0f}, wz[TAPS] = {1.0f};
  float dx[TAPS] = {0.0f}, dy[TAPS] = {0.0f}, dz[TAPS] = {0.0f};
  int at_x[TAPS] = {0};
  weigh(x, gradient, wx, dx);
  if (DIMENSIONS >= 2) weigh(y, gradient, wy, dy);
  if (DIMENSIONS >= 3) weigh(z, gradient, wz, dz);
  if (!inside) map_neighbours(x, spline->width, at_x);
  Row sum = NO_ROW, sum_dy = NO_ROW, sum_dz = NO_ROW;
#if DIMENSIONS == 3 && DEGREE > 3
#pragma unroll 1  // 6 x 6 neighbours per iteration are enough for the registers
#else
#pragma unroll
#endif
  for (int k = 0; k < TAPS_Z; ++k) {
    const int row_z = DIMENSIONS < 3 ? 0 : neighbour(z, k, spline->depth, inside);
    Row plane = NO_ROW, plane_dy = NO_ROW;
#pragma unroll
    for (int j = 0; j < TAPS_Y; ++j) {
      const int row_y = DIMENSIONS < 2 ? 0 : neighbour(y, j, spline->height, inside);
      const Row row = load_row(spline, inside, x.first, at_x, row_y, row_z);
      plane = add_row(wy[j], row, plane);
      if (gradient) plane_dy = add_row(dy[j], row, plane_dy);
    }
    sum = DIMENSIONS < 3 ? plane : add_row(pick(wz, k), plane, sum);
    if (!gradient) continue;
    sum_dy = DIMENSIONS < 3 ? plane_dy : add_row(pick(wz, k), plane_dy, sum_dy);
    sum_dz = add_row(pick(dz, k), plane, sum_dz);
  }
  Result result = {across(wx, sum), 0.0f, 0.0f, 0.0f};
#ifdef GRADIENT
  if (gradient) {
    result.dx = across(dx, sum);
    result.dy = across(wx, sum_dy);
    result.dz = across(wx, sum_dz);
  }
#endif
  return result;
}

// Whether all neighbours of a point lie inside the coefficients.
WA_INLINE bool all_inside(const Spline* spline, Along x, Along y, Along z) {
  return is_inside(x, spline->width) && (DIMENSIONS < 2 || is_inside(y, spline->height)) &&
         (DIMENSIONS < 3 || is_inside(z, spline->depth));
}

// A point, each coordinate as the sum of two floats.
typedef struct {
  float high[3];
  float low[3];
} Point;

// Finds the neighbourhood of a point; returns false if its value is cval.
WA_INLINE bool locate_point(const Spline* spline, const Point* point, Along* x, Along* y,
                            Along* z) {
  bool exists = locate(point->high[0], point->low[0], spline->width, spline->margin, x);
  if (DIMENSIONS >= 2) {
    exists &= locate(point->high[1], point->low[1], spline->height, spline->margin, y);
  }
  if (DIMENSIONS >= 3) {
    exists &= locate(point->high[2], point->low[2], spline->depth, spline->margin, z);
  }
  return exists;
}

#define AFFINE 0
#define PROJECTIVE 1
#define FIELD 2
#define LOG_POLAR 3

// The parameters of the points, the same for every work-item: the rows of a transform about the
// output's centre, rounded to float, and the rounding errors (formulas/affine.h). For LOG_POLAR,
// row 0 is the centre's x, the logarithm of the radius and its step; row 1 is the centre's y, the
// angle and its step.
#define POINTS_PARAMETERS                                                                         \
  int kind, float4 row_x, float4 row_y, float4 row_z, float4 row_w, float4 rest_x, float4 rest_y, \
      float4 rest_z, float4 rest_w, int centre_x, int centre_y, int centre_z,                     \
      global const float *field
#define POINTS_ARGUMENTS                                                                          \
  kind, row_x, row_y, row_z, row_w, rest_x, rest_y, rest_z, rest_w, centre_x, centre_y, centre_z, \
      field

WA_INLINE void log_polar_point(float4 row_x, float4 row_y, float4 rest_x, float4 rest_y, float i,
                               float j, Point* point) {
  float log_low, angle_low, cosine, sine;
  const float log_high =
      wa_affine(row_x.z, rest_x.z, i, 0.0f, 0.0f, 0.0f, row_x.y, rest_x.y, &log_low);
  const float angle_high =
      wa_affine(row_y.z, rest_y.z, j, 0.0f, 0.0f, 0.0f, row_y.y, rest_y.y, &angle_low);
  const float radius = wa_log_grid_radius(log_high, log_low);
  wa_log_grid_direction(angle_high, angle_low, &cosine, &sine);
  point->high[0] = wa_two_sum(row_x.x, radius * cosine, &point->low[0]);
  point->high[1] = wa_two_sum(row_y.x, radius * sine, &point->low[1]);
  point->low[0] += rest_x.x;
  point->low[1] += rest_y.x;
}

WA_INLINE void project(float divisor, float divisor_low, Point* point) {
#pragma unroll
  for (int axis = 0; axis < DIMENSIONS; ++axis) {
    point->high[axis] =
        wa_divide(point->high[axis], point->low[axis], divisor, divisor_low, &point->low[axis]);
  }
}

// Snaps a point, so that the rounding of a transform's coefficients to double does not decide
// whether it lies in the image.
WA_INLINE void snap(Point* point) {
#if defined(POINTS_REJECT) || defined(POINTS_WRAP)
#pragma unroll
  for (int axis = 0; axis < DIMENSIONS; ++axis) wa_snap(&point->high[axis], &point->low[axis]);
#endif
}

// The point at which output pixel (x, y, z), number `pixel` of `pixels`, is read.
WA_INLINE void find_point(POINTS_PARAMETERS, int x, int y, int z, size_t pixel, size_t pixels,
                          Point* point) {
  if (kind == FIELD) {
#pragma unroll
    for (int axis = 0; axis < DIMENSIONS; ++axis) {
      point->high[axis] = field[axis * pixels + pixel];
      point->low[axis] = 0.0f;
    }
    return;
  }
#if DIMENSIONS == 2
  if (kind == LOG_POLAR) {
    log_polar_point(row_x, row_y, rest_x, rest_y, (float)x, (float)y, point);
    return;
  }
#endif
  const float dx = (float)(x - centre_x);
  const float dy = (float)(y - centre_y);
  const float dz = (float)(z - centre_z);
  transformed(row_x, rest_x, dx, dy, dz, &point->high[0], &point->low[0]);
  if (DIMENSIONS >= 2) transformed(row_y, rest_y, dx, dy, dz, &point->high[1], &point->low[1]);
  if (DIMENSIONS >= 3) transformed(row_z, rest_z, dx, dy, dz, &point->high[2], &point->low[2]);
  if (kind == PROJECTIVE) {
    float divisor, divisor_low;
    transformed(row_w, rest_w, dx, dy, dz, &divisor, &divisor_low);
    project(divisor, divisor_low, point);
  }
  snap(point);
}

#ifdef BATCH
// An entry of the table of a batch (lib/batch.h): POINTS_PARAMETERS without the field.
typedef struct {
  float4 row_x, row_y, row_z, row_w, rest_x, rest_y, rest_z, rest_w;
  int kind, centre_x, centre_y, centre_z;
} PointsOfArray;

#define TAKE_POINTS(entry)      \
  kind = (entry)->kind;         \
  row_x = (entry)->row_x;       \
  row_y = (entry)->row_y;       \
  row_z = (entry)->row_z;       \
  row_w = (entry)->row_w;       \
  rest_x = (entry)->rest_x;     \
  rest_y = (entry)->rest_y;     \
  rest_z = (entry)->rest_z;     \
  rest_w = (entry)->rest_w;     \
  centre_x = (entry)->centre_x; \
  centre_y = (entry)->centre_y; \
  centre_z = (entry)->centre_z
#endif

// The kernels' parameters for the spline and for the output.
#define SPLINE_PARAMETERS \
  global const Value *coefficients, int width, int height, int depth, int margin, float cval
#define OUTPUT_PARAMETERS int output_width, int output_height, int output_depth

#endif

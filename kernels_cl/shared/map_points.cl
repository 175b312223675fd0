// Maps points by a matrix, by a displacement field, or by the inverse of one, in double precision.
//
// Coordinate a (0: x) of point i is points[first + i point_stride + a axis_stride], modulo 2^64, so
// that strides can be negative. A field has the components x, y (and z) of each sample together. It
// is defined between the index `margin` and the last one but `margin` along each axis; beyond, it
// has the value of the nearest edge, and `outside` says what becomes of the point (OutsideField).
//
// Options: GROUP, the size of the work-group; CHUNK, the number of points per work-item. The points
// of a group are interleaved.
//
// scratch: 176 bytes: the samples along z are indexed at run time, because transforms of the plane
// have one; inverse_points does so for the field and for its derivatives.
//
// variant: gpu -DGROUP=128 -DCHUNK=1
// variant: cpu -DGROUP=1 -DCHUNK=256
#include "shared/kernel_language.h"

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define WA_ROWS                                                                           \
  double m0, double m1, double m2, double m3, double m4, double m5, double m6, double m7, \
      double m8, double m9, double m10, double m11
#define WA_ROWS_GIVEN m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11

#define WA_OUTSIDE_EDGE 0
#define WA_OUTSIDE_ZERO 1
#define WA_OUTSIDE_NAN 2

#define WA_NAN (0.0 * INFINITY)

// Runs `statement` for each point of the work-item; `at` is the index of its x.
#define WA_FOR_EACH(statement)                                                  \
  WA_UINT64 i = (WA_UINT64)WA_GROUP_X * ((WA_UINT64)GROUP * CHUNK) + WA_ITEM_X; \
  for (int k = 0; k < CHUNK && i < count; ++k, i += GROUP) {                    \
    const WA_UINT64 at = first + i * point_stride;                              \
    statement                                                                   \
  }

// Declares p[3], the point of a grid that has the index i. Of the matrix, the rows are given.
#define WA_GRID_POINT(p)                                 \
  const WA_UINT64 row = i / (WA_UINT64)width;            \
  const double x = (double)(i - row * (WA_UINT64)width); \
  const double y = (double)(row % (WA_UINT64)height);    \
  const double z = (double)(row / (WA_UINT64)height);    \
  double p[3];                                           \
  p[0] = m0 * x + m1 * y + m2 * z + m3;                  \
  p[1] = m4 * x + m5 * y + m6 * z + m7;                  \
  p[2] = m8 * x + m9 * y + m10 * z + m11;

#define WA_STORE_POINT(p)          \
  points[at] = p[0];               \
  points[at + axis_stride] = p[1]; \
  if (dimensions > 2) points[at + 2 * axis_stride] = p[2];

// Sets the points to those of a grid of width x height x depth indices.
WA_KERNEL(GROUP, 1)
points_of_grid(int dimensions, int width, int height, WA_ROWS, WA_UINT64 first,
               WA_UINT64 point_stride, WA_UINT64 axis_stride, WA_UINT64 count,
               WA_GLOBAL double* points) {
  WA_BEGIN();
  WA_FOR_EACH({WA_GRID_POINT(p) WA_STORE_POINT(p)})
}

// Subtracts the points of the same grid, which leaves displacements.
WA_KERNEL(GROUP, 1)
without_grid(int dimensions, int width, int height, WA_ROWS, WA_UINT64 first,
             WA_UINT64 point_stride, WA_UINT64 axis_stride, WA_UINT64 count,
             WA_GLOBAL double* points) {
  WA_BEGIN();
  WA_FOR_EACH({
    WA_GRID_POINT(p)
    points[at] -= p[0];
    points[at + axis_stride] -= p[1];
    if (dimensions > 2) points[at + 2 * axis_stride] -= p[2];
  })
}

// w0 to w3: the last row of the matrix.
WA_KERNEL(GROUP, 1)
matrix_points(int dimensions, WA_ROWS, double w0, double w1, double w2, double w3, WA_UINT64 first,
              WA_UINT64 point_stride, WA_UINT64 axis_stride, WA_UINT64 count,
              WA_GLOBAL double* points) {
  WA_BEGIN();
  WA_FOR_EACH({
    const double x = points[at];
    const double y = points[at + axis_stride];
    const double z = dimensions > 2 ? points[at + 2 * axis_stride] : 0.0;
    const double w = w0 * x + w1 * y + w2 * z + w3;
    points[at] = (m0 * x + m1 * y + m2 * z + m3) / w;
    points[at + axis_stride] = (m4 * x + m5 * y + m6 * z + m7) / w;
    if (dimensions > 2) points[at + 2 * axis_stride] = (m8 * x + m9 * y + m10 * z + m11) / w;
  })
}

// A field as the kernel's arguments describe it, and the matrix from points to its indices.
typedef struct {
  WA_GLOBAL const unsigned char* values;
  int is_double, is_cubic, dimensions, width, height, depth, margin;
  double m[12];
} WaField;

// The samples along one axis that contribute to a value, their weights, and the derivatives of
// these by the index. Linear interpolation has two.
typedef struct {
  double weight[4];
  double slope[4];
  int at[4];
} WaTaps;

// Points of a grid in world coordinates have rounding errors of this order in indices.
#define WA_INDEX_ROUNDING 1e-9

WA_INLINE int wa_mirrored_index(int i, int n) {
  if (n == 1) return 0;
  if (i < 0) i = -i;
  i %= 2 * (n - 1);
  return i < n ? i : 2 * (n - 1) - i;
}

// Returns whether the index t lies between the edges.
WA_INLINE int wa_taps(int is_cubic, int margin, int n, double t, WaTaps* taps) {
  const int last = n - 1 - margin;
  const double low = (double)margin;
  const double high = (double)last;
  const int is_inside = t >= low - WA_INDEX_ROUNDING && t <= high + WA_INDEX_ROUNDING;
  t = t >= low ? t : low;  // NaN becomes the first index
  t = t > high ? high : t;
  int i = (int)t;
  if (i == last && i > margin) i -= 1;
  const double f = t - (double)i;
  const double g = 1.0 - f;
  const double scale = is_inside ? 1.0 : 0.0;
  if (!is_cubic) {
    const int is_single = last == margin;
    taps->at[0] = i;
    taps->at[1] = is_single ? i : i + 1;
    taps->weight[0] = is_single ? 1.0 : g;
    taps->weight[1] = is_single ? 0.0 : f;
    taps->slope[0] = is_single ? 0.0 : -scale;
    taps->slope[1] = is_single ? 0.0 : scale;
    return is_inside;
  }
  taps->weight[0] = g * g * g / 6.0;
  taps->weight[1] = (4.0 - 3.0 * f * f * (2.0 - f)) / 6.0;
  taps->weight[2] = (4.0 - 3.0 * g * g * (2.0 - g)) / 6.0;
  taps->weight[3] = f * f * f / 6.0;
  taps->slope[0] = scale * (-g * g / 2.0);
  taps->slope[1] = scale * ((3.0 * f * f - 4.0 * f) / 2.0);
  taps->slope[2] = scale * ((4.0 * g - 3.0 * g * g) / 2.0);
  taps->slope[3] = scale * (f * f / 2.0);
  WA_UNROLL
  for (int k = 0; k < 4; ++k) taps->at[k] = wa_mirrored_index(i + k - 1, n);
  return is_inside;
}

WA_INLINE double wa_field_sample(const WaField* field, WA_UINT64 at) {
  return field->is_double ? ((WA_GLOBAL const double*)field->values)[at]
                          : (double)((WA_GLOBAL const float*)field->values)[at];
}

// Adds up the samples of `count` taps along each axis. `with_slopes`: and their derivatives by the
// indices, row by row.
WA_INLINE void wa_field_sum(const WaField* field, int count, int with_slopes, const WaTaps* x,
                            const WaTaps* y, const WaTaps* z, double* value, double* slopes) {
  const int is_volume = field->dimensions > 2;
  WA_UNROLL
  for (int k = 0; k < count; ++k) {
    if (k > 0 && !is_volume) break;
    const double wz = is_volume ? z->weight[k] : 1.0;
    const double sz = is_volume ? z->slope[k] : 0.0;
    const int plane = is_volume ? z->at[k] : 0;
    WA_UNROLL
    for (int j = 0; j < count; ++j) {
      const double wyz = y->weight[j] * wz;
      const double syz = y->slope[j] * wz;
      const double wysz = y->weight[j] * sz;
      const WA_UINT64 row = ((WA_UINT64)plane * (WA_UINT64)field->height + (WA_UINT64)y->at[j]) *
                            (WA_UINT64)field->width;
      WA_UNROLL
      for (int i = 0; i < count; ++i) {
        const WA_UINT64 at = (row + (WA_UINT64)x->at[i]) * (WA_UINT64)field->dimensions;
        WA_UNROLL
        for (int c = 0; c < 3; ++c) {
          if (c == 2 && !is_volume) break;
          const double u = wa_field_sample(field, at + (WA_UINT64)c);
          value[c] += x->weight[i] * wyz * u;
          if (with_slopes) {
            slopes[3 * c] += x->slope[i] * wyz * u;
            slopes[3 * c + 1] += x->weight[i] * syz * u;
            slopes[3 * c + 2] += x->weight[i] * wysz * u;
          }
        }
      }
    }
  }
}

// The index coordinates of a point in the field's grid.
WA_INLINE void wa_index_of(const WaField* field, const double* point, double* t) {
  const double* m = field->m;
  WA_UNROLL
  for (int a = 0; a < 3; ++a) {
    t[a] = m[4 * a] * point[0] + m[4 * a + 1] * point[1] + m[4 * a + 2] * point[2] + m[4 * a + 3];
  }
}

// The displacement at a point. Returns whether the point lies in the field's grid.
WA_INLINE int wa_displacement(const WaField* field, int with_slopes, const double* point,
                              double* value, double* slopes) {
  double t[3];
  wa_index_of(field, point, t);
  WaTaps x, y, z;
  int is_inside = wa_taps(field->is_cubic, field->margin, field->width, t[0], &x);
  is_inside &= wa_taps(field->is_cubic, field->margin, field->height, t[1], &y);
  if (field->dimensions > 2) {
    is_inside &= wa_taps(field->is_cubic, field->margin, field->depth, t[2], &z);
  }
  value[0] = value[1] = value[2] = 0.0;
  if (field->is_cubic) {
    wa_field_sum(field, 4, with_slopes, &x, &y, &z, value, slopes);
  } else {
    wa_field_sum(field, 2, with_slopes, &x, &y, &z, value, slopes);
  }
  return is_inside;
}

// q + u(q) - p, and its length.
WA_INLINE double wa_error_at(const WaField* field, const double* q, const double* p,
                             double* error) {
  double value[3];
  double unused[9];
  wa_displacement(field, 0, q, value, unused);
  double sum = 0.0;
  WA_UNROLL
  for (int a = 0; a < 3; ++a) {
    error[a] = q[a] + value[a] - p[a];
    sum += error[a] * error[a];
  }
  return sqrt(sum);
}

// J^-1 error for the Jacobian matrix J of q + u(q), or the error where J has no positive
// determinant.
WA_INLINE void wa_newton_step(const WaField* field, const double* q, const double* error,
                              double* step) {
  double value[3];
  double d[9] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  wa_displacement(field, 1, q, value, d);
  const double* m = field->m;
  double j[9];
  WA_UNROLL
  for (int row = 0; row < 3; ++row) {
    WA_UNROLL
    for (int column = 0; column < 3; ++column) {
      j[3 * row + column] = (row == column ? 1.0 : 0.0) + d[3 * row] * m[column] +
                            d[3 * row + 1] * m[4 + column] + d[3 * row + 2] * m[8 + column];
    }
  }
  const double c0 = j[4] * j[8] - j[5] * j[7];
  const double c1 = j[5] * j[6] - j[3] * j[8];
  const double c2 = j[3] * j[7] - j[4] * j[6];
  const double determinant = j[0] * c0 + j[1] * c1 + j[2] * c2;
  step[0] = error[0];
  step[1] = error[1];
  step[2] = error[2];
  if (!(determinant > 0.0)) return;
  step[0] = (c0 * error[0] + (j[2] * j[7] - j[1] * j[8]) * error[1] +
             (j[1] * j[5] - j[2] * j[4]) * error[2]) /
            determinant;
  step[1] = (c1 * error[0] + (j[0] * j[8] - j[2] * j[6]) * error[1] +
             (j[2] * j[3] - j[0] * j[5]) * error[2]) /
            determinant;
  step[2] = (c2 * error[0] + (j[1] * j[6] - j[0] * j[7]) * error[1] +
             (j[0] * j[4] - j[1] * j[3]) * error[2]) /
            determinant;
}

#define WA_NEWTON_STEPS 50
#define WA_HALVINGS 12
#define WA_FIXED_POINT_STEPS 400

// Solves q + u(q) = p by Newton's method with step halving, or if that stops, by fixed-point
// iteration. Returns whether one has converged.
WA_INLINE int wa_solve(const WaField* field, double within, const double* p, double* q) {
  double error[3];
  double distance = wa_error_at(field, p, p, error);
  WA_UNROLL
  for (int a = 0; a < 3; ++a) q[a] = p[a] - error[a];
  distance = wa_error_at(field, q, p, error);
  for (int step = 0; step < WA_NEWTON_STEPS && distance > within; ++step) {
    double full[3];
    wa_newton_step(field, q, error, full);
    double factor = 1.0;
    int is_better = 0;
    for (int halving = 0; halving < WA_HALVINGS && !is_better; ++halving, factor *= 0.5) {
      double candidate[3];
      double next[3];
      WA_UNROLL
      for (int a = 0; a < 3; ++a) candidate[a] = q[a] - factor * full[a];
      const double reached = wa_error_at(field, candidate, p, next);
      if (reached < distance) {
        is_better = 1;
        distance = reached;
        WA_UNROLL
        for (int a = 0; a < 3; ++a) {
          q[a] = candidate[a];
          error[a] = next[a];
        }
      }
    }
    if (!is_better) break;
  }
  for (int step = 0; step < WA_FIXED_POINT_STEPS && distance > within; ++step) {
    WA_UNROLL
    for (int a = 0; a < 3; ++a) q[a] -= error[a];
    distance = wa_error_at(field, q, p, error);
  }
  return distance <= within;
}

// Whether the index of a point along an axis lies between the edges, up to the error of an inverse.
WA_INLINE int wa_is_between(double t, int margin, int n) {
  const double rounding = 1e-6;
  return t >= (double)margin - rounding && t <= (double)(n - 1 - margin) + rounding;
}

WA_INLINE int wa_is_in_grid(const WaField* field, const double* q) {
  double t[3];
  wa_index_of(field, q, t);
  return wa_is_between(t[0], field->margin, field->width) &&
         wa_is_between(t[1], field->margin, field->height) &&
         (field->dimensions < 3 || wa_is_between(t[2], field->margin, field->depth));
}

#define WA_FIELD                                                                                 \
  WA_GLOBAL const unsigned char *values, int is_double, int is_cubic, int dimensions, int width, \
      int height, int depth, int margin, WA_ROWS, int outside

#define WA_SET_FIELD(field)                \
  WaField field;                           \
  field.values = values;                   \
  field.is_double = is_double;             \
  field.is_cubic = is_cubic;               \
  field.dimensions = dimensions;           \
  field.width = width;                     \
  field.height = height;                   \
  field.depth = depth;                     \
  field.margin = margin;                   \
  const double rows[12] = {WA_ROWS_GIVEN}; \
  WA_UNROLL                                \
  for (int a = 0; a < 12; ++a) field.m[a] = rows[a];

#define WA_LOAD_POINT(p)           \
  double p[3];                     \
  p[0] = points[at];               \
  p[1] = points[at + axis_stride]; \
  p[2] = dimensions > 2 ? points[at + 2 * axis_stride] : 0.0;

WA_KERNEL(GROUP, 1)
field_points(WA_FIELD, WA_UINT64 first, WA_UINT64 point_stride, WA_UINT64 axis_stride,
             WA_UINT64 count, WA_GLOBAL double* points) {
  WA_BEGIN();
  WA_SET_FIELD(field)
  WA_FOR_EACH({
    WA_LOAD_POINT(p)
    double value[3];
    double unused[9];
    const int is_inside = wa_displacement(&field, 0, p, value, unused);
    if (!is_inside && outside != WA_OUTSIDE_EDGE) {
      const double fill = outside == WA_OUTSIDE_NAN ? WA_NAN : 0.0;
      value[0] = value[1] = value[2] = fill;
    }
    p[0] += value[0];
    p[1] += value[1];
    p[2] += value[2];
    WA_STORE_POINT(p)
  })
}

// `tolerance`: the largest distance between q + u(q) and p, unless rounding is larger.
WA_KERNEL(GROUP, 1)
inverse_points(WA_FIELD, double tolerance, WA_UINT64 first, WA_UINT64 point_stride,
               WA_UINT64 axis_stride, WA_UINT64 count, WA_GLOBAL double* points) {
  WA_BEGIN();
  WA_SET_FIELD(field)
  WA_FOR_EACH({
    WA_LOAD_POINT(p)
    double q[3];
    const double rounding =
        16.0 * 2.220446049250313e-16 * sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    const double within = tolerance > rounding ? tolerance : rounding;
    if (!wa_solve(&field, within, p, q)) {
      q[0] = q[1] = q[2] = WA_NAN;
    } else if (outside != WA_OUTSIDE_EDGE && !wa_is_in_grid(&field, q)) {
      q[0] = outside == WA_OUTSIDE_NAN ? WA_NAN : p[0];
      q[1] = outside == WA_OUTSIDE_NAN ? WA_NAN : p[1];
      q[2] = outside == WA_OUTSIDE_NAN ? WA_NAN : p[2];
    }
    WA_STORE_POINT(q)
  })
}

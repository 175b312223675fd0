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
// scratch: 176 bytes: the coefficients along z of a cubic field are indexed at run time, because
// transforms of the plane have one; inverse_points does so for the field and for its derivatives.
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

// The coefficients along one axis that contribute to a value, their weights, and the derivatives of
// these by the index.
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

// Moves an index t to the nearest edge if it lies beyond, and splits it into the sample below it
// and a fraction in [0, 1], which is 1 at the last sample but not between others. Returns whether
// the index lies between the edges.
WA_INLINE int wa_split_index(int margin, int n, double t, int* below, double* fraction) {
  const int last = n - 1 - margin;
  const double low = (double)margin;
  const double high = (double)last;
  const int is_inside = t >= low - WA_INDEX_ROUNDING && t <= high + WA_INDEX_ROUNDING;
  t = t >= low ? t : low;  // NaN becomes the first index
  t = t > high ? high : t;
  *below = (int)t;
  if (*below == last && *below > margin) *below -= 1;
  *fraction = t - (double)*below;
  return is_inside;
}

// Returns whether the index t lies between the edges.
WA_INLINE int wa_taps(int margin, int n, double t, WaTaps* taps) {
  int i;
  double f;
  const int is_inside = wa_split_index(margin, n, t, &i, &f);
  const double g = 1.0 - f;
  const double scale = is_inside ? 1.0 : 0.0;
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

// Adds up the coefficients of four taps along each axis. `with_slopes`: and their derivatives by
// the indices, row by row.
WA_INLINE void wa_cubic_sum(const WaField* field, int with_slopes, const WaTaps* x, const WaTaps* y,
                            const WaTaps* z, double* value, double* slopes) {
  const int is_volume = field->dimensions > 2;
  WA_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (k > 0 && !is_volume) break;
    const double wz = is_volume ? z->weight[k] : 1.0;
    const double sz = is_volume ? z->slope[k] : 0.0;
    const int plane = is_volume ? z->at[k] : 0;
    WA_UNROLL
    for (int j = 0; j < 4; ++j) {
      const double wyz = y->weight[j] * wz;
      const double syz = y->slope[j] * wz;
      const double wysz = y->weight[j] * sz;
      const WA_UINT64 row = ((WA_UINT64)plane * (WA_UINT64)field->height + (WA_UINT64)y->at[j]) *
                            (WA_UINT64)field->width;
      WA_UNROLL
      for (int i = 0; i < 4; ++i) {
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

// Defines the sum over the corners of a cell of linear interpolation: between the samples `below`
// and the next along each axis, at `fraction` of the way. `with_slopes`: and its derivatives by the
// indices, row by row.
#define WA_LINEAR_SUM(real, name)                                                         \
  WA_INLINE void name(const WaField* field, int with_slopes, const int* below,            \
                      const real* fraction, real* value, real* slopes) {                  \
    const int is_volume = field->dimensions > 2;                                          \
    const int next_x = below[0] + (field->width > 1 ? 1 : 0);                             \
    const int next_y = below[1] + (field->height > 1 ? 1 : 0);                            \
    const int next_z = below[2] + (field->depth > 1 ? 1 : 0);                             \
    WA_UNROLL                                                                             \
    for (int k = 0; k < 4; ++k) {                                                         \
      if (k > 1 && !is_volume) break;                                                     \
      const int down = k & 1;                                                             \
      const real wy = down ? fraction[1] : (real)1 - fraction[1];                         \
      const real wz = !is_volume ? (real)1 : k > 1 ? fraction[2] : (real)1 - fraction[2]; \
      const real sy = down ? wz : -wz;                                                    \
      const real sz = !is_volume ? (real)0 : k > 1 ? wy : -wy;                            \
      const WA_UINT64 plane = (WA_UINT64)(!is_volume ? 0 : k > 1 ? next_z : below[2]);    \
      const WA_UINT64 row =                                                               \
          (plane * (WA_UINT64)field->height + (WA_UINT64)(down ? next_y : below[1])) *    \
          (WA_UINT64)field->width;                                                        \
      const WA_UINT64 from = (row + (WA_UINT64)below[0]) * (WA_UINT64)field->dimensions;  \
      const WA_UINT64 to = (row + (WA_UINT64)next_x) * (WA_UINT64)field->dimensions;      \
      WA_UNROLL                                                                           \
      for (int c = 0; c < 3; ++c) {                                                       \
        if (c == 2 && !is_volume) break;                                                  \
        const real first = (real)wa_field_sample(field, from + (WA_UINT64)c);             \
        const real slope = (real)wa_field_sample(field, to + (WA_UINT64)c) - first;       \
        const real sum = first + fraction[0] * slope;                                     \
        value[c] += wy * wz * sum;                                                        \
        if (with_slopes) {                                                                \
          slopes[3 * c] += wy * wz * slope;                                               \
          slopes[3 * c + 1] += sy * sum;                                                  \
          slopes[3 * c + 2] += sz * sum;                                                  \
        }                                                                                 \
      }                                                                                   \
    }                                                                                     \
  }

WA_LINEAR_SUM(double, wa_linear_sum)
WA_LINEAR_SUM(float, wa_linear_sum_in_single)

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
  value[0] = value[1] = value[2] = 0.0;
  int is_inside;
  if (field->is_cubic) {
    WaTaps x, y, z;
    is_inside = wa_taps(field->margin, field->width, t[0], &x);
    is_inside &= wa_taps(field->margin, field->height, t[1], &y);
    if (field->dimensions > 2) is_inside &= wa_taps(field->margin, field->depth, t[2], &z);
    wa_cubic_sum(field, with_slopes, &x, &y, &z, value, slopes);
    return is_inside;
  }
  int below[3] = {0, 0, 0};
  double fraction[3] = {0.0, 0.0, 0.0};
  const int in_x = wa_split_index(0, field->width, t[0], &below[0], &fraction[0]);
  const int in_y = wa_split_index(0, field->height, t[1], &below[1], &fraction[1]);
  int in_z = 1;
  if (field->dimensions > 2) {
    in_z = wa_split_index(0, field->depth, t[2], &below[2], &fraction[2]);
  }
  wa_linear_sum(field, with_slopes, below, fraction, value, slopes);
  if (with_slopes) {
    WA_UNROLL
    for (int c = 0; c < 3; ++c) {
      slopes[3 * c] = in_x ? slopes[3 * c] : 0.0;
      slopes[3 * c + 1] = in_y ? slopes[3 * c + 1] : 0.0;
      slopes[3 * c + 2] = in_z ? slopes[3 * c + 2] : 0.0;
    }
  }
  return in_x && in_y && in_z;
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

// J^-1 error for the Jacobian matrix J, row by row, or the error if J has no positive determinant.
#define WA_SOLVED_STEP(real, j, error, step)                                      \
  const real c0 = j[4] * j[8] - j[5] * j[7];                                      \
  const real c1 = j[5] * j[6] - j[3] * j[8];                                      \
  const real c2 = j[3] * j[7] - j[4] * j[6];                                      \
  const real determinant = j[0] * c0 + j[1] * c1 + j[2] * c2;                     \
  step[0] = error[0];                                                             \
  step[1] = error[1];                                                             \
  step[2] = error[2];                                                             \
  if (determinant > 0) {                                                          \
    const real inverse = 1 / determinant;                                         \
    step[0] = inverse * (c0 * error[0] + (j[2] * j[7] - j[1] * j[8]) * error[1] + \
                         (j[1] * j[5] - j[2] * j[4]) * error[2]);                 \
    step[1] = inverse * (c1 * error[0] + (j[0] * j[8] - j[2] * j[6]) * error[1] + \
                         (j[2] * j[3] - j[0] * j[5]) * error[2]);                 \
    step[2] = inverse * (c2 * error[0] + (j[1] * j[6] - j[0] * j[7]) * error[1] + \
                         (j[0] * j[4] - j[1] * j[3]) * error[2]);                 \
  }

// The error q + u(q) - p and its length, and the step of Newton's method from q, which is J^-1
// error for the Jacobian matrix J of q + u(q).
WA_INLINE double wa_newton_step(const WaField* field, const double* q, const double* p,
                                double* error, double* step) {
  double value[3];
  double d[9] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  wa_displacement(field, 1, q, value, d);
  const double* m = field->m;
  double j[9];
  double sum = 0.0;
  WA_UNROLL
  for (int row = 0; row < 3; ++row) {
    error[row] = q[row] + value[row] - p[row];
    sum += error[row] * error[row];
    WA_UNROLL
    for (int column = 0; column < 3; ++column) {
      j[3 * row + column] = (row == column ? 1.0 : 0.0) + d[3 * row] * m[column] +
                            d[3 * row + 1] * m[4 + column] + d[3 * row + 2] * m[8 + column];
    }
  }
  WA_SOLVED_STEP(double, j, error, step)
  return sqrt(sum);
}

// Moves a location on an axis, the sample below it and the fraction after that, to the nearest edge
// if it lies beyond. Returns whether it lies between the edges.
WA_INLINE int wa_move_inside(int n, int* below, float* fraction) {
  const int is_last = *below == n - 1 && *fraction == 0.0f;
  const int is_inside = is_last || (*below >= 0 && *below < n - 1);
  if (is_inside && !is_last) return 1;
  const int is_end = n > 1 && *below >= n - 1;
  *below = is_end ? n - 2 : 0;
  *fraction = is_end ? 1.0f : 0.0f;
  return is_inside;
}

#define WA_SINGLE_STEPS 8
// Newton's method stops at an error of this many indices: the step that follows leaves about its
// square, times the change of the field's slopes.
#define WA_SINGLE_ERROR 3e-3f

// Newton's method in single precision for a field that is interpolated linearly. Indices are whole
// numbers and fractions, so that the error is about 1e-6 in fields of any size. Returns whether it
// has converged, and then sets q near the solution.
WA_INLINE int wa_solve_in_single(const WaField* field, const double* p, double* q) {
  const int n[3] = {field->width, field->height, field->depth};
  double index[3];
  wa_index_of(field, p, index);
  int aim[3];
  int whole[3];
  float aim_fraction[3];
  float fraction[3];
  float linear[9];
  WA_UNROLL
  for (int a = 0; a < 3; ++a) {
    if (!(index[a] > -1e9 && index[a] < 1e9)) return 0;
    const double floored = floor(index[a]);
    aim[a] = whole[a] = (int)floored;
    aim_fraction[a] = fraction[a] = (float)(index[a] - floored);
    linear[3 * a] = (float)field->m[4 * a];
    linear[3 * a + 1] = (float)field->m[4 * a + 1];
    linear[3 * a + 2] = (float)field->m[4 * a + 2];
  }
  for (int step_number = 0; step_number < WA_SINGLE_STEPS; ++step_number) {
    int below[3] = {whole[0], whole[1], whole[2]};
    float t[3] = {fraction[0], fraction[1], fraction[2]};
    int is_inside[3];
    WA_UNROLL
    for (int a = 0; a < 3; ++a) is_inside[a] = wa_move_inside(n[a], &below[a], &t[a]);
    float u[3] = {0.0f, 0.0f, 0.0f};
    float d[9] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    wa_linear_sum_in_single(field, 1, below, t, u, d);
    // The error and its derivatives by indices: s + L u(s) - s(p), I + L du/ds.
    float error[3];
    float j[9];
    float sum = 0.0f;
    WA_UNROLL
    for (int row = 0; row < 3; ++row) {
      const float* l = linear + 3 * row;
      error[row] = (float)(whole[row] - aim[row]) + (fraction[row] - aim_fraction[row]) +
                   WA_FMA(l[0], u[0], WA_FMA(l[1], u[1], l[2] * u[2]));
      sum = WA_FMA(error[row], error[row], sum);
      WA_UNROLL
      for (int column = 0; column < 3; ++column) {
        d[3 * row + column] = is_inside[column] ? d[3 * row + column] : 0.0f;
      }
    }
    WA_UNROLL
    for (int row = 0; row < 3; ++row) {
      const float* l = linear + 3 * row;
      WA_UNROLL
      for (int column = 0; column < 3; ++column) {
        j[3 * row + column] =
            WA_FMA(l[0], d[column], WA_FMA(l[1], d[3 + column], l[2] * d[6 + column])) +
            (row == column ? 1.0f : 0.0f);
      }
    }
    float step[3];
    WA_SOLVED_STEP(float, j, error, step)
    if (sum <= WA_SINGLE_ERROR * WA_SINGLE_ERROR) {
      WA_UNROLL
      for (int c = 0; c < 3; ++c) {
        const float* by_index = d + 3 * c;
        const float change =
            WA_FMA(by_index[0], step[0], WA_FMA(by_index[1], step[1], by_index[2] * step[2]));
        q[c] = p[c] - (double)u[c] + (double)change;
      }
      return 1;
    }
    WA_UNROLL
    for (int a = 0; a < 3; ++a) {
      if (!(WA_FABS(step[a]) < 1e6f)) return 0;
      fraction[a] -= step[a];
      const float floored = WA_FLOOR(fraction[a]);
      whole[a] += (int)floored;
      fraction[a] -= floored;
    }
  }
  return 0;
}

#define WA_NEWTON_STEPS 50
#define WA_HALVINGS 12
#define WA_FIXED_POINT_STEPS 400

// Solves q + u(q) = p by Newton's method with step halving, or if that stops, by fixed-point
// iteration. Returns whether one has converged. For fields that are interpolated linearly, Newton's
// method starts at the solution in single precision, from which one step is usually enough.
WA_INLINE int wa_solve(const WaField* field, double within, const double* p, double* q) {
  double error[3];
  double distance = 0.0;
  if (field->is_cubic || !wa_solve_in_single(field, p, q)) {
    wa_error_at(field, p, p, error);
    WA_UNROLL
    for (int a = 0; a < 3; ++a) q[a] = p[a] - error[a];
  }
  for (int step = 0; step < WA_NEWTON_STEPS; ++step) {
    double full[3];
    distance = wa_newton_step(field, q, p, error, full);
    if (distance <= within) return 1;
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
    if (distance <= within) return 1;
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

// Solves for the points of a work-item.
#define WA_INVERT_POINTS                                                              \
  WA_FOR_EACH({                                                                       \
    WA_LOAD_POINT(p)                                                                  \
    double q[3];                                                                      \
    const double rounding =                                                           \
        16.0 * 2.220446049250313e-16 * sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]); \
    const double within = tolerance > rounding ? tolerance : rounding;                \
    if (!wa_solve(&field, within, p, q)) {                                            \
      q[0] = q[1] = q[2] = WA_NAN;                                                    \
    } else if (outside != WA_OUTSIDE_EDGE && !wa_is_in_grid(&field, q)) {             \
      q[0] = outside == WA_OUTSIDE_NAN ? WA_NAN : p[0];                               \
      q[1] = outside == WA_OUTSIDE_NAN ? WA_NAN : p[1];                               \
      q[2] = outside == WA_OUTSIDE_NAN ? WA_NAN : p[2];                               \
    }                                                                                 \
    WA_STORE_POINT(q)                                                                 \
  })

// `tolerance`: the largest distance between q + u(q) and p, unless rounding is larger.
WA_KERNEL(GROUP, 1)
inverse_points(WA_FIELD, double tolerance, WA_UINT64 first, WA_UINT64 point_stride,
               WA_UINT64 axis_stride, WA_UINT64 count, WA_GLOBAL double* points) {
  WA_BEGIN();
  WA_SET_FIELD(field)
  WA_INVERT_POINTS
}

// The same for fields that are interpolated linearly, which need half the registers.
WA_SHARING_KERNEL(GROUP, 1, 5)
inverse_linear_points(WA_FIELD, double tolerance, WA_UINT64 first, WA_UINT64 point_stride,
                      WA_UINT64 axis_stride, WA_UINT64 count, WA_GLOBAL double* points) {
  WA_BEGIN();
  WA_SET_FIELD(field)
  field.is_cubic = 0;
  field.margin = 0;
  WA_INVERT_POINTS
}

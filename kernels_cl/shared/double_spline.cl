// B-splines in double precision: prefilter, evaluation, and copies of the nearest samples.
//
// Points are transformed output pixels, or explicit coordinates: all x, then all y, then all z. An
// unused axis has one sample in input and output.
//
// Options: GROUP, the size of the work-group; CHUNK, the number of pixels per work-item.
//
// scratch: 224 bytes: evaluate_double indexes the neighbours of a point along three axes at run
// time, for degrees from 1 to 5 in one kernel.
//
// variant: gpu -DGROUP=256 -DCHUNK=4
// variant: cpu -DGROUP=1 -DCHUNK=256
#include "shared/double_points.h"

// The number of terms of the sums that start a recursion: 0.431^64 is below 1e-23.
#define TERMS 64

// The sample that is nearest to a coordinate on an axis of n samples; -1 if there is none.
WA_INLINE int wa_nearest_sample(int boundary, int extension, double x, int n, double margin) {
  const double at = wa_located(boundary, WA_PLUS(x, margin), n);
  if (!wa_is_located(boundary, at)) return -1;
  return wa_extend(extension, wa_whole(WA_PLUS(at, 0.5)), n);
}

// The index in an array of the sample that is nearest to a point; the largest number if there is
// none.
WA_INLINE WA_UINT64 wa_nearest_position(const double* point, int boundary, int extension,
                                        int dimensions, int width, int height, int depth,
                                        double margin) {
  const int column = wa_nearest_sample(boundary, extension, point[0], width, margin);
  int line = 0, slice = 0;
  if (dimensions > 1) line = wa_nearest_sample(boundary, extension, point[1], height, margin);
  if (dimensions > 2) slice = wa_nearest_sample(boundary, extension, point[2], depth, margin);
  if (column < 0 || line < 0 || slice < 0) return ~(WA_UINT64)0;
  return ((WA_UINT64)slice * (WA_UINT64)height + (WA_UINT64)line) * (WA_UINT64)width +
         (WA_UINT64)column;
}

#define COPY_AS(type)                                                               \
  for (int a = 0; a < count; ++a) {                                                 \
    ((WA_GLOBAL type*)target)[(WA_UINT64)a * points + i] =                          \
        at < samples ? ((WA_GLOBAL const type*)source)[(WA_UINT64)a * samples + at] \
                     : (type)outside;                                               \
  }

WA_INLINE void wa_copy_sample(WA_GLOBAL const unsigned char* source, int bytes, int count,
                              WA_UINT64 samples, WA_UINT64 at, WA_UINT64 points, WA_UINT64 i,
                              WA_UINT64 outside, WA_GLOBAL unsigned char* target) {
  switch (bytes) {
    case 1:
      COPY_AS(unsigned char)
      break;
    case 2:
      COPY_AS(unsigned short)
      break;
    case 4:
      COPY_AS(unsigned int)
      break;
    default:
      COPY_AS(WA_UINT64)
      break;
  }
}

#if GROUP == 1
// On CPUs, for pixels of a row whose points are all inside the input, so that no boundary mode
// moves them: the nearest sample is the truncated sum of the coordinate and 0.5, which compilers
// vectorize.
#define COPY_ROW_AS(type)                                                                 \
  for (int a = 0; a < count; ++a) {                                                       \
    WA_GLOBAL const type* from = (WA_GLOBAL const type*)source + (WA_UINT64)a * samples;  \
    WA_GLOBAL type* to = (WA_GLOBAL type*)target + (WA_UINT64)a * points + i;             \
    for (int k = 0; k < pixels; ++k) {                                                    \
      const double x = (double)(column + k);                                              \
      const long at_x = (long)(int)WA_PLUS(WA_PLUS(start[0], WA_TIMES(x, step[0])), 0.5); \
      const long at_y = (long)(int)WA_PLUS(WA_PLUS(start[1], WA_TIMES(x, step[1])), 0.5); \
      const long at_z = (long)(int)WA_PLUS(WA_PLUS(start[2], WA_TIMES(x, step[2])), 0.5); \
      to[k] = from[(at_z * height + at_y) * width + at_x];                                \
    }                                                                                     \
  }

// Whether the points of the first and last pixel, and so of all, are inside an axis of n samples.
WA_INLINE bool wa_is_row_inside(double start, double step, int column, int pixels, int n) {
  const double first = WA_PLUS(start, WA_TIMES((double)column, step));
  const double last = WA_PLUS(start, WA_TIMES((double)(column + pixels - 1), step));
  return first >= 0.0 && first <= (double)(n - 1) && last >= 0.0 && last <= (double)(n - 1);
}

// Copies `pixels` pixels of an output row from `column` on, whose points are start + x step.
// Returns `pixels`, or 0 if not all of the points are inside the input.
WA_INLINE int wa_copy_row(WA_GLOBAL const unsigned char* source, int bytes, int width, int height,
                          int depth, int count, const double* start, const double* step, int column,
                          int pixels, WA_UINT64 points, WA_UINT64 i,
                          WA_GLOBAL unsigned char* target) {
  const WA_UINT64 samples = (WA_UINT64)width * (WA_UINT64)height * (WA_UINT64)depth;
  if (!wa_is_row_inside(start[0], step[0], column, pixels, width) ||
      !wa_is_row_inside(start[1], step[1], column, pixels, height) ||
      !wa_is_row_inside(start[2], step[2], column, pixels, depth)) {
    return 0;
  }
  switch (bytes) {
    case 1:
      COPY_ROW_AS(unsigned char)
      break;
    case 2:
      COPY_ROW_AS(unsigned short)
      break;
    case 4:
      COPY_ROW_AS(unsigned int)
      break;
    default:
      COPY_ROW_AS(WA_UINT64)
      break;
  }
  return pixels;
}
#undef COPY_ROW_AS

#define ROW_PIXELS 64
// Copies up to ROW_PIXELS pixels of a row at once if their points are inside the input.
#define COPY_ROWS                                                                           \
  if (k % ROW_PIXELS == 0 && !has_points && !is_projective && margin == 0.0) {              \
    const double y = (double)line, z = (double)slice;                                       \
    const double start[3] = {                                                               \
        WA_PLUS(WA_PLUS(m3, WA_TIMES(z, m2)), WA_TIMES(y, m1)),                             \
        dimensions > 1 ? WA_PLUS(WA_PLUS(m7, WA_TIMES(z, m6)), WA_TIMES(y, m5)) : 0.0,      \
        dimensions > 2 ? WA_PLUS(WA_PLUS(m11, WA_TIMES(z, m10)), WA_TIMES(y, m9)) : 0.0};   \
    const double step[3] = {m0, dimensions > 1 ? m4 : 0.0, dimensions > 2 ? m8 : 0.0};      \
    const int left = CHUNK - k < ROW_PIXELS ? CHUNK - k : ROW_PIXELS;                       \
    const int pixels = out_width - column < left ? out_width - column : left;               \
    const int copied = wa_copy_row(source, bytes, width, height, depth, count, start, step, \
                                   column, pixels, points, i, target);                      \
    if (copied > 0) {                                                                       \
      i += copied;                                                                          \
      column += copied;                                                                     \
      k += copied - 1;                                                                      \
      if (column == out_width) {                                                            \
        column = 0;                                                                         \
        line += 1;                                                                          \
        if (line == out_height) {                                                           \
          line = 0;                                                                         \
          slice += 1;                                                                       \
        }                                                                                   \
      }                                                                                     \
      continue;                                                                             \
    }                                                                                       \
  }
#else
// On GPUs, for pixels of an image whose points are inside the input, so that no boundary mode moves
// them. Coordinates are rounded as in WA_TRANSFORMED_POINT, where z is 0.
#define COPY_ROWS                                                                           \
  if (dimensions == 2 && !has_points && !is_projective && margin == 0.0) {                  \
    const double x = (double)column, y = (double)line;                                      \
    const double at_x = WA_PLUS(                                                            \
        WA_PLUS(WA_PLUS(m3, WA_TIMES(0.0, m2)), WA_TIMES(y, m1)), WA_TIMES(x, m0));         \
    const double at_y = WA_PLUS(                                                            \
        WA_PLUS(WA_PLUS(m7, WA_TIMES(0.0, m6)), WA_TIMES(y, m5)), WA_TIMES(x, m4));         \
    if (at_x >= 0.0 && at_x <= (double)(width - 1) && at_y >= 0.0 &&                        \
        at_y <= (double)(height - 1)) {                                                     \
      wa_copy_sample(source, bytes, count, samples,                                         \
                     (WA_UINT64)(int)WA_PLUS(at_y, 0.5) * (WA_UINT64)width +                \
                         (WA_UINT64)(int)WA_PLUS(at_x, 0.5),                                \
                     points, i, outside, target);                                           \
      continue;                                                                             \
    }                                                                                       \
  }
#endif

WA_KERNEL(GROUP, 1)
copy_nearest(WA_GLOBAL const unsigned char* source, int bytes, int boundary, int extension,
             int dimensions, int width, int height, int depth, int count, double margin,
             int out_width, int out_height, WA_UINT64 points, WA_GLOBAL const double* given,
             int has_points, int is_projective, WA_MATRIX, WA_UINT64 outside,
             WA_GLOBAL unsigned char* target) {
  WA_BEGIN();
  const WA_UINT64 samples = (WA_UINT64)width * (WA_UINT64)height * (WA_UINT64)depth;
  WA_FOR_EACH_POINT(
      COPY_ROWS, wa_copy_sample(source, bytes, count, samples,
                                wa_nearest_position(point, boundary, extension, dimensions, width,
                                                    height, depth, margin),
                                points, i, outside, target))
}

WA_INLINE void wa_store_values(WA_GLOBAL const double* coefficients, int degree, int boundary,
                               int extension, int dimensions, int width, int height, int depth,
                               int count, double margin, const double* point, double outside,
                               WA_UINT64 points, WA_UINT64 i, WA_GLOBAL double* target) {
  const WA_UINT64 samples = (WA_UINT64)width * (WA_UINT64)height * (WA_UINT64)depth;
  for (int a = 0; a < count; ++a) {
    target[(WA_UINT64)a * points + i] =
        wa_spline_value(coefficients + (WA_UINT64)a * samples, degree, boundary, extension,
                        dimensions, width, height, depth, margin, point, outside);
  }
}

WA_KERNEL(GROUP, 1)
evaluate_double(WA_GLOBAL const double* coefficients, int degree, int boundary, int extension,
                int dimensions, int width, int height, int depth, int count, double margin,
                int out_width, int out_height, WA_UINT64 points, WA_GLOBAL const double* given,
                int has_points, int is_projective, WA_MATRIX, double outside,
                WA_GLOBAL double* target) {
  WA_BEGIN();
  WA_FOR_EACH_POINT(, wa_store_values(coefficients, degree, boundary, extension, dimensions, width,
                                      height, depth, count, margin, point, outside, points, i,
                                      target))
}

// The same for cubic splines of images: neighbours and weights stay in registers. `degree` and
// `dimensions` are ignored.
WA_KERNEL(GROUP, 1)
evaluate_cubic_plane(WA_GLOBAL const double* coefficients, int degree, int boundary, int extension,
                     int dimensions, int width, int height, int depth, int count, double margin,
                     int out_width, int out_height, WA_UINT64 points,
                     WA_GLOBAL const double* given, int has_points, int is_projective, WA_MATRIX,
                     double outside, WA_GLOBAL double* target) {
  WA_BEGIN();
  WA_FOR_EACH_POINT(, wa_store_values(coefficients, 3, boundary, extension, 2, width, height, depth,
                                      count, margin, point, outside, points, i, target))
}

// The initial value of the causal recursion at the first of n samples, which are `stride` apart:
// the weighted sum of all samples before it, by extension. For mirror and reflect, a period
// contains each sample twice.
WA_INLINE double wa_causal_start(WA_GLOBAL const double* line, WA_UINT64 stride, int n,
                                 int extension, double z) {
  double sum = line[0];
  double power = z;
  const int terms = n < TERMS ? n : TERMS;
  if (extension == WA_PERIODIC) {
    for (int k = 1; k < terms; ++k, power *= z) {
      sum += power * line[(WA_UINT64)(n - k) * stride];
    }
    return n < TERMS ? sum / (1.0 - power) : sum;
  }
  if (extension == WA_REFLECT) {
    // Sample k is read at distances k + 1 and 2 n - k.
    double back = n < TERMS ? wa_power(z, 2 * n) : 0.0;
    const double period = back;
    sum = 0.0;
    for (int k = 0; k < terms; ++k, power *= z, back /= z) {
      sum += (power + back) * line[(WA_UINT64)k * stride];
    }
    return line[0] + sum / (1.0 - period);
  }
  // Sample k is read at distances k and 2 n - 2 - k; the last one at n - 1 only.
  double back = n < TERMS ? wa_power(z, 2 * n - 3) : 0.0;
  const double period = back * z;
  for (int k = 1; k < terms; ++k, power *= z, back /= z) {
    sum += (k < n - 1 ? power + back : power) * line[(WA_UINT64)k * stride];
  }
  return n < TERMS ? sum / (1.0 - period) : sum;
}

// The initial value of the anticausal recursion at the last sample, after the causal recursion.
WA_INLINE double wa_anticausal_start(WA_GLOBAL const double* line, WA_UINT64 stride, int n,
                                     int extension, double z) {
  const double last = line[(WA_UINT64)(n - 1) * stride];
  if (extension == WA_REFLECT) return z / (z - 1.0) * last;
  if (extension == WA_PERIODIC) {
    double sum = last;
    double power = z;
    const int terms = n < TERMS ? n : TERMS;
    for (int k = 1; k < terms; ++k, power *= z) {
      sum += power * line[(WA_UINT64)(k - 1) * stride];
    }
    return -z / (n < TERMS ? 1.0 - power : 1.0) * sum;
  }
  return z / (z * z - 1.0) * (last + z * line[(WA_UINT64)(n - 2) * stride]);
}

// Filters `lines` lines of n samples, which are `stride` apart, for one pole or two; second_pole is
// 0 if there is only one. Source and target may be the same.
WA_KERNEL(GROUP, 1)
prefilter_double(WA_GLOBAL const double* source, int n, WA_UINT64 stride, WA_UINT64 lines,
                 int extension, double pole, double second_pole, WA_GLOBAL double* target) {
  WA_BEGIN();
  const WA_UINT64 number = (WA_UINT64)WA_GROUP_X * GROUP + WA_ITEM_X;
  if (number >= lines) return;
  const WA_UINT64 first = number / stride * stride * (WA_UINT64)n + number % stride;
  WA_GLOBAL double* line = target + first;
  double gain = 1.0;
  if (n > 1) gain = (1.0 - pole) * (1.0 - 1.0 / pole);
  if (n > 1 && second_pole != 0.0) gain *= (1.0 - second_pole) * (1.0 - 1.0 / second_pole);
  for (int k = 0; k < n; ++k) {
    line[(WA_UINT64)k * stride] = gain * source[first + (WA_UINT64)k * stride];
  }
  if (n == 1) return;
  for (int pass = 0; pass < (second_pole != 0.0 ? 2 : 1); ++pass) {
    const double z = pass == 0 ? pole : second_pole;
    double before = wa_causal_start(line, stride, n, extension, z);
    line[0] = before;
    for (int k = 1; k < n; ++k) {
      before = line[(WA_UINT64)k * stride] + z * before;
      line[(WA_UINT64)k * stride] = before;
    }
    before = wa_anticausal_start(line, stride, n, extension, z);
    line[(WA_UINT64)(n - 1) * stride] = before;
    for (int k = n - 2; k >= 0; --k) {
      before = z * (before - line[(WA_UINT64)k * stride]);
      line[(WA_UINT64)k * stride] = before;
    }
  }
}
#undef COPY_ROWS
#undef COPY_AS
#undef TERMS

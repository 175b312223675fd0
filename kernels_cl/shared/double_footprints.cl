// Means of splines over the footprints of points, in double precision (double_spline.hpp).
//
// Options: GROUP and CHUNK as in double_points.h.
//
// scratch: 224 bytes: mean_double indexes the neighbours of a point along three axes at run time,
// for degrees from 1 to 5 in one kernel.
//
// variant: gpu -DGROUP=256 -DCHUNK=4
// variant: cpu -DGROUP=1 -DCHUNK=256
#include "formulas/principal_axes.h"
#include "shared/double_points.h"

// A footprint has at most this many points on each side of its centre along an axis, so that the
// time for a point is limited where a transform shrinks without limit, as homographies do at their
// horizon. Beyond, the points are farther apart than one sample.
#define MAX_RADIUS (dimensions == 1 ? 4096 : dimensions == 2 ? 64 : 16)

// What wa_principal_axes() neglects: rounding errors of a matrix, and those of explicit
// coordinates, which may be those of single precision.
#define NEGLIGIBLE (has_points ? 1e-4 : 1e-12)

WA_INLINE bool wa_is_finite_double(double x) { return x - x == 0.0; }

// The derivative of explicit coordinates along an axis of the output of n pixels, by central
// differences, and by one-sided ones beside the edges and coordinates that are not finite.
WA_INLINE double wa_difference(WA_GLOBAL const double* coordinate, int at, int n,
                               WA_UINT64 stride) {
  double low = *coordinate, high = low;
  int span = 0;
  if (at > 0 && wa_is_finite_double(*(coordinate - stride))) {
    low = *(coordinate - stride);
    ++span;
  }
  if (at < n - 1 && wa_is_finite_double(coordinate[stride])) {
    high = coordinate[stride];
    ++span;
  }
  return span > 0 ? (high - low) / (double)span : 0.0;
}

// A footprint: the steps from one of its points to the next along its principal axes (columns), how
// many there are on each side, and the Gaussian's exponent of the first one.
typedef struct {
  double step[9];
  int radius[3];
  double exponent[3];
} Footprint;

// The footprint for J, the Jacobian from output to input, row by row.
WA_INLINE Footprint wa_footprint(const double* jacobian, int dimensions, double negligible) {
  Footprint found;
  double squared[9];
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      squared[3 * i + k] = jacobian[3 * i] * jacobian[3 * k] +
                           jacobian[3 * i + 1] * jacobian[3 * k + 1] +
                           jacobian[3 * i + 2] * jacobian[3 * k + 2];
    }
  }
  wa_principal_axes(negligible, squared, found.step);
  for (int axis = 0; axis < 3; ++axis) {
    const double samples = squared[4 * axis] > 0.0 ? sqrt(squared[4 * axis]) : 0.0;
    const double sigma = samples > 1.0 + 1e-9 ? (samples - 1.0) / 2.0 : 0.0;
    const double reach = floor(4.0 * sigma + 0.5);
    const double most = (double)MAX_RADIUS;
    found.radius[axis] = axis >= dimensions ? 0 : (int)(reach < most ? reach : most);
    double step = reach > most ? 4.0 * sigma / most : 1.0;
    // No point is farther away than any sample.
    if (!(step < 1e9)) step = 1e9;
    found.exponent[axis] = sigma > 0.0 ? -0.5 * (step / sigma) * (step / sigma) : 0.0;
    for (int row = 0; row < 3; ++row) found.step[3 * row + axis] *= step;
  }
  return found;
}

WA_INLINE double wa_footprint_mean(WA_GLOBAL const double* coefficients, int degree, int boundary,
                                   int extension, int dimensions, int width, int height, int depth,
                                   double margin, const double* centre, const Footprint* footprint,
                                   double outside) {
  double sum = 0.0, weights = 0.0;
  for (int c = -footprint->radius[2]; c <= footprint->radius[2]; ++c) {
    const double of_c = footprint->exponent[2] * (double)(c * c);
    for (int b = -footprint->radius[1]; b <= footprint->radius[1]; ++b) {
      const double of_b = of_c + footprint->exponent[1] * (double)(b * b);
      for (int a = -footprint->radius[0]; a <= footprint->radius[0]; ++a) {
        const double weight = exp(of_b + footprint->exponent[0] * (double)(a * a));
        double point[3];
        for (int row = 0; row < 3; ++row) {
          const double* step = footprint->step + 3 * row;
          point[row] =
              centre[row] + ((double)a * step[0] + (double)b * step[1] + (double)c * step[2]);
        }
        sum += weight * wa_spline_value(coefficients, degree, boundary, extension, dimensions,
                                        width, height, depth, margin, point, outside);
        weights += weight;
      }
    }
  }
  return sum / weights;
}

// Moves a footprint's centre into the samples if the boundary mode moves it. Returns false if the
// result is the value beyond the edges.
WA_INLINE bool wa_locate_centre(int boundary, int dimensions, int width, int height, int depth,
                                double* centre) {
  if (boundary != WA_BY_CONSTANT && boundary != WA_BY_WRAP) return true;
  for (int axis = 0; axis < dimensions; ++axis) {
    centre[axis] = wa_located(boundary, centre[axis],
                              axis == 0   ? width
                              : axis == 1 ? height
                                          : depth);
    if (!wa_is_located(boundary, centre[axis])) return false;
  }
  return true;
}

// Sets the Jacobian at pixel i of the output.
#define SET_JACOBIAN                                                                            \
  double jacobian[9] = {m0, m1, m2, m4, m5, m6, m8, m9, m10};                                   \
  if (has_points) {                                                                             \
    const int at[3] = {column, line, slice}, n[3] = {out_width, out_height, out_depth};         \
    const WA_UINT64 stride[3] = {1, (WA_UINT64)out_width,                                       \
                                 (WA_UINT64)out_width * (WA_UINT64)out_height};                 \
    for (int r = 0; r < 3; ++r) {                                                               \
      for (int c = 0; c < 3; ++c) {                                                             \
        jacobian[3 * r + c] = r < dimensions ? wa_difference(given + (WA_UINT64)r * points + i, \
                                                             at[c], n[c], stride[c])            \
                                             : 0.0;                                             \
      }                                                                                         \
    }                                                                                           \
  } else if (is_projective) {                                                                   \
    const double w = m15 + (double)slice * m14 + (double)line * m13 + (double)column * m12;     \
    for (int r = 0; r < 3; ++r) {                                                               \
      jacobian[3 * r] = (jacobian[3 * r] - point[r] * m12) / w;                                 \
      jacobian[3 * r + 1] = (jacobian[3 * r + 1] - point[r] * m13) / w;                         \
      jacobian[3 * r + 2] = (jacobian[3 * r + 2] - point[r] * m14) / w;                         \
    }                                                                                           \
  }                                                                                             \
  for (int k = 0; k < 9; ++k) {                                                                 \
    if (k % 3 >= dimensions || k / 3 >= dimensions) jacobian[k] = 0.0;                          \
  }

// As evaluate_double, but the mean over each point's footprint.
WA_KERNEL(GROUP, 1)
mean_double(WA_GLOBAL const double* coefficients, int degree, int boundary, int extension,
            int dimensions, int width, int height, int depth, int count, double margin,
            int out_width, int out_height, int out_depth, WA_UINT64 points,
            WA_GLOBAL const double* given, int has_points, int is_projective, WA_MATRIX,
            double outside, WA_GLOBAL double* target) {
  WA_BEGIN();
  const WA_UINT64 samples = (WA_UINT64)width * (WA_UINT64)height * (WA_UINT64)depth;
  // With `constant` and `wrap` only the centre decides; beyond the edges samples are mirrored.
  const int beyond = boundary == WA_BY_CONSTANT || boundary == WA_BY_WRAP ? WA_BY_MIRROR : boundary;
  WA_FOR_EACH_POINT(, {
    SET_JACOBIAN
    const bool is_located = wa_locate_centre(boundary, dimensions, width, height, depth, point);
    const Footprint footprint = wa_footprint(jacobian, dimensions, NEGLIGIBLE);
    for (int a = 0; a < count; ++a) {
      target[(WA_UINT64)a * points + i] =
          is_located ? wa_footprint_mean(coefficients + (WA_UINT64)a * samples, degree, beyond,
                                         extension, dimensions, width, height, depth, margin, point,
                                         &footprint, outside)
                     : outside;
    }
  })
}
#undef SET_JACOBIAN
#undef MAX_RADIUS
#undef NEGLIGIBLE

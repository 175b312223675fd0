// The sample location of a reference pixel in the moving image, and the moving image's cubic spline
// there.
#pragma once

#include "device/launch.hpp"
#include "device/memory.hpp"
#include "spline/interpolate_points.cuh"

#include "formulas/similarity.h"

#include <warpalign/geometry.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace warpalign::cuda {

/// The spline of a moving image: its coefficients, and its valid cells.
struct MovingSpline {
  const float* coefficients;
  int width;
  int margin;
  int cells_x, cells_y;  ///< counted from `margin`; 0 if the margin leaves none
};

/// The number of n pixels that remain between margins on both sides.
[[nodiscard]] inline int without_margins(int n, int margin) {
  return static_cast<int>(std::max<std::int64_t>(n - 2 * std::int64_t{margin}, 0));
}

/// The spline of an image whose coefficients are set later.
[[nodiscard]] inline MovingSpline moving_spline(const Shape& shape, int margin,
                                                const CallSite& site) {
  const int width = extent(shape.width, site);
  return {nullptr, width, margin, without_margins(width - 1, margin),
          without_margins(extent(shape.height, site) - 1, margin)};
}

/// The start of optional memory; null if there is none.
template <class T>
[[nodiscard]] const T* data_or_null(const backend::Memory* memory) noexcept {
  return memory == nullptr ? nullptr : data<T>(*memory);
}

/// A cell (x0, y0) of the spline and the fraction (a, b) within it.
struct SampleLocation {
  int x0, y0;
  float a, b;
};

// The largest integer not above a number, and the remainder in [0, 1], given the nearest integer
// and the difference of the number from it.
__device__ __forceinline__ int cell_near(int nearest, float difference, float& part) {
  const bool before = difference < 0.0f;
  part = before ? difference + 1.0f : difference;
  return before ? nearest - 1 : nearest;
}

// The same for a number itself, for which is_near() must hold.
__device__ __forceinline__ int cell_of(double x, float& part) {
  const AxisLocation location = split(x, false);
  return cell_near(location.whole, location.fraction, part);
}

// Whether a location lies in a valid cell.
__device__ __forceinline__ bool counts_in(const MovingSpline& moving,
                                          const SampleLocation& location) {
  const int column = location.x0 - moving.margin;
  const int row = location.y0 - moving.margin;
  return column >= 0 && column < moving.cells_x && row >= 0 && row < moving.cells_y;
}

/// A homography in the form that kernels take, row by row; device code cannot index a std::array.
struct ProjectiveMatrix {
  double h[9];
};

// The point to which a homography maps a reference pixel; reciprocals of the divisor are exact to
// double precision.
__device__ __forceinline__ double2 mapped(const ProjectiveMatrix& m, int px, int py) {
  const auto row = [&](int first) {
    return fma(m.h[first], static_cast<double>(px),
               fma(m.h[first + 1], static_cast<double>(py), m.h[first + 2]));
  };
  const double inverse = 1 / row(6);
  return make_double2(row(0) * inverse, row(3) * inverse);
}

__device__ __forceinline__ double2 mapped(const Affine& m, int px, int py) {
  return make_double2(fma(m.a, static_cast<double>(px), fma(m.b, static_cast<double>(py), m.c)),
                      fma(m.d, static_cast<double>(px), fma(m.e, static_cast<double>(py), m.f)));
}

// Returns false if the sample location lies within the margin of the moving image or outside it, or
// is NaN. Computes in double precision, because single precision would displace the pixels of large
// images by 1e-4.
template <class Matrix>
__device__ __forceinline__ bool find_sample_location(const Matrix& m, int px, int py,
                                                     const MovingSpline& moving,
                                                     SampleLocation& location) {
  const double2 q = mapped(m, px, py);
  if (!is_near(q.x) || !is_near(q.y)) return false;
  location.x0 = cell_of(q.x, location.a);
  location.y0 = cell_of(q.y, location.b);
  return counts_in(moving, location);
}

__device__ __forceinline__ const float* first_neighbour(const MovingSpline& moving,
                                                        const SampleLocation& location) {
  return moving.coefficients + static_cast<long long>(location.y0 - 1) * moving.width +
         (location.x0 - 1);
}

__device__ __forceinline__ float spline_value(const MovingSpline& moving,
                                              const SampleLocation& location) {
  float wx[4], wy[4];
  wa_bspline_weights_3(location.a, wx);
  wa_bspline_weights_3(location.b, wy);
  const float* c = first_neighbour(moving, location);
  float value = 0.0f;
#pragma unroll
  for (int j = 0; j < 4; ++j, c += moving.width) {
    value =
        fmaf(wy[j], wa_row_of_four(__ldg(c), __ldg(c + 1), __ldg(c + 2), __ldg(c + 3), wx), value);
  }
  return value;
}

struct ValueAndSlopes {
  float value, slope_x, slope_y;
};

__device__ __forceinline__ ValueAndSlopes spline_value_and_slopes(const MovingSpline& moving,
                                                                  const SampleLocation& location) {
  float wx[4], dx[4], wy[4], dy[4];
  wa_bspline_weights_3(location.a, wx);
  wa_bspline_derivatives_3(location.a, dx);
  wa_bspline_weights_3(location.b, wy);
  wa_bspline_derivatives_3(location.b, dy);
  const float* c = first_neighbour(moving, location);
  ValueAndSlopes sum{};
#pragma unroll
  for (int j = 0; j < 4; ++j, c += moving.width) {
    const float c0 = __ldg(c), c1 = __ldg(c + 1), c2 = __ldg(c + 2), c3 = __ldg(c + 3);
    const float row = wa_row_of_four(c0, c1, c2, c3, wx);
    sum.value = fmaf(wy[j], row, sum.value);
    sum.slope_x = fmaf(wy[j], wa_row_of_four(c0, c1, c2, c3, dx), sum.slope_x);
    sum.slope_y = fmaf(dy[j], row, sum.slope_y);
  }
  return sum;
}

/// The matrix in the form that a plan's kernels take.
template <bool projective>
using MatrixOf = std::conditional_t<projective, ProjectiveMatrix, Affine>;

template <bool projective>
[[nodiscard]] MatrixOf<projective> matrix_of(const Homography& matrix) {
  if constexpr (projective) {
    ProjectiveMatrix result;
    std::copy(matrix.h.begin(), matrix.h.end(), result.h);
    return result;
  } else {
    return matrix.affine();
  }
}

/// The weights of the two images, if a plan is masked; unused otherwise.
struct PairWeights {
  const float* reference;
  const float* moving;
};

// Whether both the reference pixel and the moving image's pixel nearest to the sample location are
// valid.
__device__ __forceinline__ bool pair_counts(const PairWeights& weights, long long reference_pixel,
                                            const MovingSpline& moving,
                                            const SampleLocation& location) {
  const int x = location.x0 + (location.a >= 0.5f ? 1 : 0);
  const int y = location.y0 + (location.b >= 0.5f ? 1 : 0);
  // Neither load depends on the other one's value.
  const float of_reference = __ldg(weights.reference + reference_pixel);
  const float of_moving = __ldg(weights.moving + static_cast<long long>(y) * moving.width + x);
  return of_reference >= WA_MIN_WEIGHT & of_moving >= WA_MIN_WEIGHT;
}

}  // namespace warpalign::cuda
